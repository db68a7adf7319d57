// Writes entries that expire and some that stay, and removes expired ones, until it is killed. Prints a dot for each round.

import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { ttl } from 'terrace-toolbox/ttl'
import { stoppedClock } from './clock.js'

const [, , name, path] = process.argv
const db = new (name === 'Level' ? Level : ClassicLevel)(path)
const clock = stoppedClock()
const sessions = ttl(db.sublevel('sessions'), { checkIntervalMs: Infinity, now: clock.now })

for (let round = 0; ; round++) {
  const operations = Array.from({ length: 50 }, (_, index) => ({
    type: 'put',
    key: `expires ${(round * 7 + index) % 500}`,
    value: String(round),
    ttlMs: 1 + (index % 100)
  }))
  operations.push({ type: 'put', key: `stays ${round % 10}`, value: String(round) })
  await Promise.all([sessions.batch(operations), sessions.put(`stays ${round % 3}`, 'x')])
  clock.time += 1
  await Promise.all([sessions.removeExpired(), sessions.put('expires last', 'x', { ttlMs: 5 })])
  process.stdout.write('.')
}

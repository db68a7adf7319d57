// Performs random writes as fast as it can, until it is killed:
// `node writer.js terrace|classic-level DIRECTORY SEED`.

import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { count, feed } from 'terrace-toolbox/feed'
import { randomNumbers } from '../support/random.js'

/** It prints the number of acknowledged writes each time it has grown by this much. */
const TOLD_EVERY = 10

const [kind, path, seed] = process.argv.slice(2)
const db = kind === 'terrace' ? new Level(path) : new ClassicLevel(path)
const data = db.sublevel('data')
feed(data, { retention: { sizeBytes: 1e9 } })
feed(data, { name: 'short', retention: { count: 200 } })
count(data, { name: 'kinds', of: (_, value) => value[0] })
const random = randomNumbers(Number(seed))

async function write() {
  for (;;) {
    const key = `key${random(500)}`
    const value = `${random(5)}${'x'.repeat(random(300))}`
    if (random(4) === 0) await data.del(key)
    else if (random(4) > 0) await data.put(key, value)
    else {
      const keys = Array.from({ length: 1 + random(50) }, () => `key${random(500)}`)
      await data.batch(keys.map((key) => ({ type: 'put', key, value })))
    }
    if (++acknowledged % TOLD_EVERY === 0) process.stdout.write(`${acknowledged}\n`)
  }
}

let acknowledged = 0
await Promise.all([write(), write(), write(), write()])

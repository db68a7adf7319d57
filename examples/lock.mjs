// Two clerks sell the last seats. With locks on the keys, no seat is sold twice.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Level } from 'terrace'
import { lock } from 'terrace-toolbox/lock'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const db = new Level(join(directory, 'db'))

try {
  const seats = db.sublevel('seats')
  const locks = lock(seats)

  const sell = (seat, customer) =>
    locks.withLock(seat, async () => {
      if (await seats.has(seat)) return `${seat} is gone, ${customer}`
      await sleep(5) // the card is charged
      await seats.put(seat, customer)
      return `${seat} is yours, ${customer}`
    })

  const answers = await Promise.all([sell('1A', 'Anna'), sell('1A', 'Bert'), sell('1B', 'Cleo')])
  for (const answer of answers) console.log(answer)

  const readers = await Promise.all([
    locks.acquire(['1A', '1B'], { shared: true }),
    locks.acquire('1A', { shared: true })
  ])
  console.log('two read at the same time')
  await locks
    .acquire('1A', { timeoutMs: 10 })
    .catch((error) => console.log('a third waits in vain:', error.code))
  for (const release of readers) release()
} finally {
  await db.close()
  rmSync(directory, { recursive: true })
}

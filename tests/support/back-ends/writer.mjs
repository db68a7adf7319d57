// Writes until the process is killed, and prints what was acknowledged.

import { writeSync } from 'node:fs'
import { roundOf } from './rounds.mjs'

/**
 * Three kinds of writes run at once, each in order: puts of unique keys `u<n>`, puts that overwrite the key `same`, and batches of
 * rounds `r`. Each line that is printed is a kind and the number of its acknowledged write, or `failed` and the code of an error.
 *
 * @param db - An open database, of strings.
 * @param {number} first - The number of the first write of each kind.
 */
export async function writeUntilKilled(db, first) {
  const writeAll = async (kind, write) => {
    for (let number = first; ; number++) {
      await write(number)
      writeSync(1, `${kind} ${number}\n`)
    }
  }
  try {
    await Promise.all([
      writeAll('u', (number) => db.put(`u${number}`, uniqueValue(number))),
      writeAll('s', (number) => db.put('same', `${number}`, { sync: number % 2 === 0 })),
      writeAll('r', (number) => db.batch(roundOf(number), { sync: number % 3 === 0 }))
    ])
  } catch (error) {
    writeSync(1, `failed ${error.code}\n`)
    process.exit()
  }
}

/** The value of the key `u<number>`. */
export function uniqueValue(number) {
  return `${number}`.padEnd(number % 500, '.')
}

// Probes of sizes: the largest that a database stores.

import { randomBytes } from 'node:crypto'

/**
 * The largest length, to the nearest `step`, whose entry is stored and read unchanged.
 *
 * @param most - Where to stop looking.
 * @param entryOf - Returns the key and the value for a length.
 * @returns The bytes, whether a larger one `isRefused`, and if so with which `code`.
 */
export async function largest(most, step, entryOf, db) {
  let refusal
  const fits = async (length) => {
    try {
      await store(db, ...entryOf(length))
      return true
    } catch (error) {
      refusal = error.code ?? error.message
      await revive(db)
      return false
    }
  }

  let fitting = 0
  let tooLarge = most + step
  for (let length = step; length <= most; length *= 2) {
    if (!(await fits(length))) {
      tooLarge = length
      break
    }
    fitting = length
  }
  if (tooLarge > most) return { bytes: fitting, isRefused: false }
  while (tooLarge - fitting > step) {
    const middle = fitting + step * Math.floor((tooLarge - fitting) / step / 2)
    if (await fits(middle)) fitting = middle
    else tooLarge = middle
  }
  return { bytes: fitting, isRefused: true, code: refusal }
}

const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

async function store(db, key, value) {
  // What repeats might be stored shorter.
  randomBytes(Math.min(16, value.length)).copy(value)
  await db.put(key, value, bytes)
  const found = await db.get(key, bytes)
  if (found === undefined || Buffer.compare(found, value) !== 0)
    throw new Error(`an entry of ${key.length + value.length} bytes is not as it was written`)
  await db.del(key, bytes)
}

/** A refusal must leave the database usable. If it does not, it is opened again. */
async function revive(db) {
  try {
    await db.put('small', 'v')
  } catch {
    await db.close()
    await db.open()
  }
}

// What is measured, in a page or in a worker. Each work returns how many operations it has done.

const BATCH = 1000
const READS = 800
const PUTS = 50

export const valueFor = (key) => key.repeat(7).slice(0, 100)

function check(value) {
  if (value?.length !== 100) throw new Error('not found')
}

/** By name. `part` is a part of the keys, another one for each turn. */
export const works = {
  'batch of 1,000, per entry': async (db, part) => {
    for (let start = 0; start < part.length; start += BATCH) {
      await db.batch(
        part.slice(start, start + BATCH).map((key) => ({ type: 'put', key, value: valueFor(key) }))
      )
    }
    return part.length
  },
  'loop over an iterator, per entry': async (db) => {
    let count = 0
    for await (const [key] of db.iterator()) if (key !== undefined) count++
    return count
  },
  'iterator().all(), per entry': async (db) => (await db.iterator().all()).length,
  'reverse loop over keys, per entry': async (db) => {
    let count = 0
    for await (const key of db.keys({ reverse: true })) if (key !== undefined) count++
    return count
  },
  'range of 10': async (db, part) => {
    for (let i = 0; i < READS / 10; i++) await db.iterator({ gte: part[i], limit: 10 }).all()
    return READS / 10
  },
  'get, one at a time': async (db, part) => {
    for (let i = 0; i < READS / 4; i++) check(await db.get(part[i]))
    return READS / 4
  },
  'get, 32 at a time': async (db, part) => {
    for (let i = 0; i < READS; i += 32) {
      const wanted = Array.from({ length: 32 }, (_, j) => db.get(part[i + j]))
      for (const value of await Promise.all(wanted)) check(value)
    }
    return READS
  },
  'getMany of 100, a key': async (db, part) => {
    for (let i = 0; i < READS; i += 100) (await db.getMany(part.slice(i, i + 100))).forEach(check)
    return READS
  },
  'put, awaited': async (db, part) => {
    for (let i = 0; i < PUTS; i++) await db.put(part[i], valueFor(part[i]))
    return PUTS
  },
  'put, awaited, sync': async (db, part) => {
    for (let i = 0; i < PUTS / 2; i++) await db.put(part[i], valueFor(part[i]), { sync: true })
    return PUTS / 2
  },
  'put, 100 at once': async (db, part) => {
    for (let i = 0; i < 8 * PUTS; i += 100) {
      await Promise.all(part.slice(i, i + 100).map((key) => db.put(key, valueFor(key))))
    }
    return 8 * PUTS
  }
}

/** The keys of a turn: 16 bytes each, in random order. */
export function keysOf(start, end) {
  return Array.from({ length: end - start }, (_, i) =>
    String(Math.imul(start + i + 1, 0x9e3779b1) >>> 0).padStart(16, '0')
  )
}

/** Does a work. Returns how long it took, and how many operations it did. */
export async function timed(db, name, start, end) {
  const part = keysOf(start, end)
  const begun = performance.now()
  const ops = await works[name](db, part)
  return { ops, seconds: (performance.now() - begun) / 1000 }
}

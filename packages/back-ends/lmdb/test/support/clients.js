// What clients do with one database at once, under conditions.

async function untilDone(attempt) {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error.code !== 'LEVEL_CONFLICT') throw error
    }
  }
}

const conditionOn = (key, value) => (value === undefined ? { key, exists: false } : { key, value })

/** Appends an item to a list and counts it, in two entries. */
export function append(db, item) {
  return untilDone(async () => {
    const [count, list] = await db.getMany(['count', 'list'])
    await db.batch(
      [
        { type: 'put', key: 'count', value: `${Number(count ?? 0) + 1}` },
        { type: 'put', key: 'list', value: list === undefined ? item : `${list} ${item}` }
      ],
      { if: [conditionOn('count', count), conditionOn('list', list)] }
    )
  })
}

/** The list, and what was counted. */
export async function appended(db) {
  const [count, list] = await db.getMany(['count', 'list'])
  return { count: Number(count ?? 0), items: list?.split(' ') ?? [] }
}

/** Takes a seat, unless so many are taken. Nothing but the range tells how many are. Returns whether it has one. */
export function takeSeat(db, name, seats) {
  const range = { gte: 'seat ', lt: 'seat!' }
  return untilDone(async () => {
    const snapshot = db.snapshot()
    try {
      const taken = await db.keys({ ...range, snapshot }).all()
      if (taken.length >= seats) return false
      await db.put(`seat ${name}`, '', { if: [{ ...range, unchangedSince: snapshot }] })
      return true
    } finally {
      await snapshot.close()
    }
  })
}

// Entries to copy, and databases that are not what they should be.

const view = { keyEncoding: 'view', valueEncoding: 'view' }

/** Entries with keys and values of any bytes: empty ones, and values of up to 200 kB. */
export function someEntries(count) {
  const entries = []
  for (let index = 0; index < count; index++) {
    const key = Buffer.from([index >> 8, index & 255, ...Array.from({ length: index % 5 }, () => 255)])
    entries.push([
      index === 0 ? Buffer.alloc(0) : key,
      Buffer.alloc(index % 500 === 7 ? 200_000 : (index * 7) % 300, index)
    ])
  }
  return entries
}

/** Writes entries. */
export async function fill(db, entries) {
  await db.batch(
    entries.map(([key, value]) => ({ type: 'put', key, value })),
    view
  )
}

/** All entries as buffers. */
export async function all(db) {
  return (await db.iterator(view).all()).map(([key, value]) => [Buffer.from(key), Buffer.from(value)])
}

/** A class like `Database` whose batches go through `change`, which gets their number, from 0, and their operations. */
export function changing(Database, change) {
  return class extends Database {
    batches = 0

    batch(...args) {
      // A chained batch, and what the class does before it is set up.
      if (args.length === 0) return super.batch()
      const [operations, options] = args
      return super.batch(change(this.batches++, operations), options)
    }
  }
}

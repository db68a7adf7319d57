// Entries to copy: keys and values of any bytes, and plain ones in numbers.

export const view = { keyEncoding: 'view', valueEncoding: 'view' }

/** Entries in order: an empty key, empty values, large values, keys that begin with others. */
export function someEntries(count) {
  const entries = []
  for (let index = 0; index < count; index++) {
    const key = Buffer.from([index >> 8, index & 255, ...Array.from({ length: index % 5 }, () => 255)])
    const length = index % 400 === 7 ? 300_000 : (index * 7) % 300
    entries.push([index === 0 ? Buffer.alloc(0) : key, Buffer.alloc(length, index)])
  }
  return entries
}

/** Writes entries in batches. */
export async function fill(db, entries) {
  for (let first = 0; first < entries.length; first += 1000) {
    await db.batch(
      entries.slice(first, first + 1000).map(([key, value]) => ({ type: 'put', key, value })),
      view
    )
  }
}

/** Entries with numbers as keys. */
export function numbered(count) {
  return Array.from({ length: count }, (_, index) => [
    Buffer.from(`key ${String(index).padStart(7, '0')}`),
    Buffer.from('x'.repeat(index % 90))
  ])
}

/** All entries as buffers. */
export async function all(db) {
  return (await db.iterator(view).all()).map(([key, value]) => [Buffer.from(key), Buffer.from(value)])
}

// What a page may do with MemoryLevel, and what comes of it.

/** Uses a database in all ways that a page would. */
export const PROGRAM = `
  export async function use(MemoryLevel) {
    const db = new MemoryLevel({ valueEncoding: 'json' })
    await db.put('a', { n: 1 })
    const before = db.snapshot()
    await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }, { type: 'del', key: 'a' }])
    const names = db.sublevel('names')
    await names.open()
    names.putSync('é', 'ü')
    const result = [
      await db.iterator({ snapshot: before }).all(),
      db.getSync('b'),
      await names.get('é'),
      [...(await db.getMany(['a', 'b']))].map((value) => value?.n ?? null)
    ]
    await before.close()
    await db.close()
    await db.open()
    result.push(await db.keys({ gte: 'b' }).all(), db.stats(), await db.approximateSize('b', 'c'))
    await db.close()
    await db.open({ maxSizeBytes: 60 })
    result.push(await db.put('c', 'x'.repeat(60)).catch((error) => error.code), await db.keys().all())
    await db.close()
    return result
  }
`

export const RESULT = [
  [['a', { n: 1 }]],
  { n: 2 },
  'ü',
  [null, 2],
  ['b'],
  { entries: 2, sizeBytes: 51 },
  24,
  'LEVEL_SIZE_LIMIT',
  ['!names!é', 'b']
]

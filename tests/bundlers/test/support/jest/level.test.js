// Run by Jest in a separate context, whose `Promise`, `Error` and `Array` are not those of the addon.

const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Level } = require('terrace')

const parent = mkdtempSync(join(tmpdir(), 'terrace-jest-'))
afterAll(() => rmSync(parent, { recursive: true }))

/** More than an iterator can sort within the call. */
const MANY = 40_000

/** With these options, every read of a table waits for the disk on another thread. */
const COLD = { mapTables: false, cacheSize: 0 }

async function filled(options) {
  const db = new Level(mkdtempSync(join(parent, 'db-')), options)
  await db.open()
  const operations = []
  for (let i = 0; i < MANY; i++)
    operations.push({ type: 'put', key: String(i).padStart(5, '0'), value: `v${i}` })
  await db.batch(operations)
  return db
}

test('it is real Jest, with a context of its own', () => {
  expect(typeof jest.fn).toBe('function')
  expect(process.getBuiltinModule('node:vm').runInThisContext('Promise')).not.toBe(Promise)
})

test('an iterator over many new entries ends', async () => {
  const db = await filled()
  let count = 0
  for await (const [key, value] of db.iterator()) {
    expect(Number(key)).toBe(count)
    expect(value).toBe(`v${count++}`)
    if (count === 2000) break
  }
  expect((await db.keys().all()).length).toBe(MANY)
  expect([...db.iterateSync({ lt: '00010' })].length).toBe(10)
  await db.close()
})

test.each(['utf8', 'buffer'])('reads that wait for the disk, as %s', async (valueEncoding) => {
  const db = await filled(COLD)
  await db.compactRange('0', '9')
  const options = { valueEncoding }
  const stored = (i) => (valueEncoding === 'buffer' ? Buffer.from(`v${i}`) : `v${i}`)
  expect(await db.get('00007', options)).toEqual(stored(7))
  expect(await db.getMany(['00007', 'none', '39999'], options)).toEqual([stored(7), undefined, stored(39999)])
  expect(await db.has('00007')).toBe(true)
  expect(await db.hasMany(['00007', 'none'])).toEqual([true, false])
  expect(await db.iterator({ ...options, gte: '39998' }).nextv(10)).toEqual([
    ['39998', stored(39998)],
    ['39999', stored(39999)]
  ])
  expect((await db.values(options).all()).length).toBe(MANY)

  const snapshot = db.snapshot()
  const pending = [db.has('00007', { snapshot }), db.getMany(['00007'], { snapshot })]
  await snapshot.close()
  expect(await Promise.all(pending)).toEqual([true, ['v7']])
  await db.close()
})

test('writes that wait, hooks, sublevels and clear', async () => {
  const db = await filled()
  const users = db.sublevel('users', { valueEncoding: 'json' })
  db.hooks.prewrite.add((operation, batch) => {
    if (operation.key === 'a') batch.add({ type: 'put', key: 'b', value: 'added' })
  })
  await Promise.all([db.put('a', '1', { sync: true }), users.put('ada', { n: 1 }, { sync: true })])
  expect(await db.getMany(['a', 'b'])).toEqual(['1', 'added'])
  expect(await users.get('ada')).toEqual({ n: 1 })
  await db.clear({ lt: 'a' })
  expect(await db.keys().all()).toEqual(['a', 'b'])
  await db.close()
})

test('errors are errors of the context', async () => {
  const db = await filled()
  const failure = await new Level(db.location).open().catch((error) => error)
  expect(failure).toBeInstanceOf(Error)
  expect(failure.code).toBe('LEVEL_DATABASE_NOT_OPEN')
  expect(failure.cause).toBeInstanceOf(Error)
  expect(failure.cause.code).toBe('LEVEL_LOCKED')
  await db.close()
})

test('after resetModules the package is loaded again, in addition to the first', async () => {
  const db = await filled()
  jest.resetModules()
  const again = require('terrace')
  expect(again.Level).not.toBe(Level)
  const other = new again.Level(mkdtempSync(join(parent, 'db-')))
  await other.put('a', 'second')
  expect([await other.get('a'), await db.get('00001')]).toEqual(['second', 'v1'])
  await Promise.all([db.close(), other.close()])
})

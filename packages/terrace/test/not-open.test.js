// The errors of calls while the database is not open: before opening, after an open that was refused, and after close().

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Level } from 'terrace'

const parent = mkdtempSync(join(tmpdir(), 'terrace-test-'))
const newDirectory = () => mkdtempSync(join(parent, 'db-'))

/** Calls of each method that needs an open database. `later` marks those that wait until it is open. */
const calls = {
  get: { later: (db) => db.get('a') },
  getMany: { later: (db) => db.getMany(['a']) },
  has: { later: (db) => db.has('a') },
  hasMany: { later: (db) => db.hasMany(['a']) },
  getEntry: { later: (db) => db.getEntry('a') },
  update: { later: (db) => db.update('a', () => '1') },
  put: { later: (db) => db.put('a', '1') },
  del: { later: (db) => db.del('a') },
  batch: { later: (db) => db.batch([{ type: 'put', key: 'a', value: '1' }]) },
  clear: { later: (db) => db.clear() },
  iterator: { later: (db) => db.iterator().next() },
  keys: { later: (db) => db.keys().all() },
  values: { later: (db) => db.values().nextv(1) },
  'for await': {
    later: async (db) => {
      for await (const _ of db.iterator());
    }
  },
  'batch()': { now: (db) => db.batch() },
  snapshot: { now: (db) => db.snapshot() },
  getSync: { now: (db) => db.getSync('a') },
  putSync: { now: (db) => db.putSync('a', '1') },
  delSync: { now: (db) => db.delSync('a') },
  batchSync: { now: (db) => db.batchSync([{ type: 'del', key: 'a' }]) },
  iterateSync: { now: (db) => [...db.iterateSync()] },
  'for of iterator()': { now: (db) => [...db.iterator()] },
  'for of keys()': { now: (db) => [...db.keys()] },
  'for of values()': { now: (db) => [...db.values()] }
}

/** Methods that only the root has. */
const callsOfRoot = {
  approximateSize: { later: (db) => db.approximateSize('a', 'b') },
  compactRange: { later: (db) => db.compactRange('a', 'b') },
  refresh: { later: (db) => db.refresh() },
  checkpoint: { later: (db) => db.checkpoint(`${db.location}-copy`) },
  getProperty: { now: (db) => db.getProperty('leveldb.stats') },
  stats: { now: (db) => db.stats() }
}

/** All calls of a database and of a sublevel of it, by name. */
function allCalls(db) {
  const sublevel = db.sublevel('sub')
  return [
    ...Object.entries({ ...calls, ...callsOfRoot }).map(([name, call]) => [name, db, call]),
    ...Object.entries(calls).map(([name, call]) => [`${name} of a sublevel`, sublevel, call])
  ]
}

/** The error of a call, whether it throws or rejects. */
async function errorOf(call, db) {
  try {
    await (call.now ?? call.later)(db)
  } catch (error) {
    return error
  }
  assert.fail('it succeeded')
}

let holder
before(async () => {
  holder = new Level(newDirectory())
  await holder.open()
})
after(async () => {
  await holder.close()
  rmSync(parent, { recursive: true })
})

test('every method that a database has is among the calls, or needs no open database', () => {
  const others = [
    ...[
      'constructor',
      'open',
      'close',
      'status',
      'parent',
      'defer',
      'deferAsync',
      'location',
      'namespace',
      'children'
    ],
    'multithreading',
    'isOwner',
    'leftOut',
    // It is for shared databases.
    'watch',
    ...['sublevel', 'prefixKey', 'keyEncoding', 'valueEncoding', 'attachResource', 'detachResource', 'emit']
  ]
  const names = new Set()
  for (let at = Level.prototype; at.constructor.name !== 'EventEmitter'; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (!name.startsWith('_')) names.add(name)
  }
  for (const name of [...others, ...Object.keys(calls), ...Object.keys(callsOfRoot)]) names.delete(name)
  assert.deepEqual([...names], [])
})

test('before the database is open, calls that cannot wait say what to await', async () => {
  const db = new Level(newDirectory())
  for (const [name, target, call] of allCalls(db)) {
    if (call.now === undefined) continue
    const error = await errorOf(call, target)
    assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN', name)
    assert.match(error.message, /await db\.open\(\)/, name)
  }
  await db.close()
})

test('calls that wait for an open that is then refused say why it was', async () => {
  const db = new Level(holder.location)
  const pending = allCalls(db).filter(([, , { later }]) => later !== undefined)
  const errors = await Promise.all(pending.map(([, target, call]) => errorOf(call, target)))
  for (const [index, [name]] of pending.entries()) assertSaysWhy(errors[index], name)
})

test('calls after an open that was refused say why it was', async () => {
  const db = new Level(holder.location)
  await assert.rejects(db.open(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  for (const [name, target, call] of allCalls(db)) {
    if (target !== db) await assert.rejects(target.open(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    assertSaysWhy(await errorOf(call, target), name)
  }
})

function assertSaysWhy(error, name) {
  assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN', name)
  assert.equal(error.cause?.code, 'LEVEL_LOCKED', name)
  assert.ok(error.message.includes(error.cause.message), name)
}

test('once it can be opened, all is as if it had never been refused', async () => {
  const owner = new Level(newDirectory())
  await owner.put('a', '1')
  const db = new Level(owner.location)
  const sublevel = db.sublevel('sub')
  await assert.rejects(db.get('a'), ({ cause }) => cause.code === 'LEVEL_LOCKED')
  await assert.rejects(sublevel.get('a'))
  await owner.close()
  await db.open()
  await sublevel.open()
  await sublevel.put('a', '2')
  for (const [target, value] of Object.entries({ root: [db, '1'], sub: [sublevel, '2'] }).map(
    ([, pair]) => pair
  )) {
    assert.equal(await target.get('a'), value)
    assert.equal(target.getSync('a'), value)
    assert.deepEqual(await target.getMany(['a']), [value])
    assert.deepEqual([await target.has('a'), await target.hasMany(['a'])], [true, [true]])
    assert.deepEqual(await target.values({ lt: 'b', gte: 'a' }).all(), [value])
    assert.deepEqual([...target.keys({ gte: 'a' })], ['a'])
    await target.snapshot().close()
  }
  await sublevel.clear()
  assert.equal(await sublevel.get('a'), undefined)
  await db.close()
  const closed = await errorOf(calls.get, db)
  assert.equal(closed.code, 'LEVEL_DATABASE_NOT_OPEN')
  assert.equal(closed.cause, undefined)
})

test('an iterator made before the database was open can be looped over once it is', async () => {
  const directory = newDirectory()
  const first = new Level(directory)
  await first.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key.toUpperCase() })))
  await first.close()

  const db = new Level(directory)
  const [keys, entries, values] = [db.keys({ gt: 'a' }), db.iterator({ reverse: true }), db.values()]
  assert.throws(() => [...keys], { code: 'LEVEL_DATABASE_NOT_OPEN', message: /await db\.open\(\)/ })
  values.seek('b')
  await db.open()
  assert.deepEqual([...keys], ['b', 'c'])
  assert.deepEqual(await entries.next(), ['c', 'C'])
  assert.deepEqual(
    [...entries],
    [
      ['b', 'B'],
      ['a', 'A']
    ]
  )
  assert.deepEqual([...values], ['B', 'C'])
  await db.close()
})

test('a lock says what can be done about it', async () => {
  for (const error of [
    (await errorOf({ later: (db) => db.open() }, new Level(holder.location))).cause,
    await errorOf({ later: () => Level.destroy(holder.location) }),
    await errorOf({ later: () => Level.repair(holder.location) })
  ]) {
    assert.equal(error.code, 'LEVEL_LOCKED')
    for (const remedy of ['close it', 'readOnly', 'multithreading'])
      assert.ok(error.message.includes(remedy), remedy)
  }
})

test('what the operating system refuses has a code in its cause, however early it was found', async () => {
  const directory = newDirectory()
  const inside = (...parts) => join(directory, ...parts)
  writeFileSync(inside('file'), '')
  mkdirSync(inside('current', 'CURRENT'), { recursive: true })
  mkdirSync(inside('lock', 'LOCK'), { recursive: true })
  const open = (location) => new Level(location).open()
  const expected = [
    ['ENOTDIR', open, inside('file')],
    ['ENOTDIR', open, inside('file', 'below')],
    ['ENAMETOOLONG', open, inside('x'.repeat(300))],
    ['EISDIR', open, inside('current')],
    ['EISDIR', open, inside('lock')],
    ['ENOTDIR', Level.destroy, inside('file')],
    ['ENOTDIR', Level.repair, inside('file')],
    ['ENOTDIR', (path) => holder.checkpoint(path), inside('file')],
    ['ENOTDIR', (path) => holder.checkpoint(path), inside('file', 'below')]
  ]
  for (const [code, call, path] of expected) {
    const error = await errorOf({ later: () => call(path) })
    const failure = error.code === 'LEVEL_DATABASE_NOT_OPEN' ? error.cause : error
    assert.equal(failure.code, 'LEVEL_IO_ERROR', path)
    assert.equal(failure.cause.code, code, path)
  }
})

test('a path with a zero character is refused as an argument', async () => {
  assert.throws(() => new Level('a\0b'), TypeError)
  for (const call of [Level.destroy, Level.repair, (path) => holder.checkpoint(path)]) {
    await assert.rejects(call('a\0b'), TypeError)
  }
})

test('a method that a program has set on a database is still its own once the database is open', async () => {
  const db = new Level(newDirectory())
  const get = async () => "the program's"
  db.get = get
  await db.open()
  assert.equal(db.get, get)
  assert.equal(await db.get('key'), "the program's")
  await db.close()
})

test('a method that a program has set on a database stays while it is refused, and afterwards', async () => {
  const get = async () => "the program's"
  const keys = () => "the program's"
  for (const sublevel of [false, true]) {
    const db = new Level(holder.location)
    const target = sublevel ? db.sublevel('a') : db
    target.get = get
    await assert.rejects(target.open(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    assert.equal(target.get, get)
    await assert.rejects(target.has('key'), /opening it failed/)
    // A method that is set while opening is refused stays, too.
    target.keys = keys
    await assert.rejects(target.open(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    assert.equal(target.keys, keys)

    await holder.close()
    await db.open()
    await target.open()
    assert.equal(target.get, get)
    assert.equal(target.keys, keys)
    assert.equal(await target.has('key'), false)
    await db.close()
    await holder.open()
  }
})

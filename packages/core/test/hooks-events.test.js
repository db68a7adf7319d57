// The event `write`, and the hooks `newsub` and `postopen`, behave as in abstract-level.

import assert from 'node:assert/strict'
import { ClassicLevel } from 'classic-level'
import { newLevel, openLevel, temporaryDirectory, test, testOnAll } from './support/databases.js'

/**
 * An operation in comparable form: encodings by name. If a function adds an operation to a sublevel other than its own, the
 * root sees that sublevel on classic-level, and the whole key on ours.
 */
function comparable(operation) {
  const { keyEncoding, valueEncoding, sublevel, ...others } = operation
  const key = (sublevel?.prefix ?? '') + others.key
  return { ...others, key, keyEncoding: keyEncoding.commonName, valueEncoding: valueEncoding?.commonName }
}

/** What functions and listeners of a root and of two sublevels see of the same writes. */
async function observe(db) {
  const a = db.sublevel('a', { valueEncoding: 'json' })
  const b = a.sublevel('b', { keyEncoding: 'buffer', valueEncoding: 'view' })
  const other = db.sublevel('other', { keyEncoding: 'json' })
  await Promise.all([db, a, b, other].map((space) => space.open()))
  const seen = { db: [], a: [], b: [], other: [] }

  for (const [name, space] of Object.entries({ db, a, b, other })) {
    space.hooks.prewrite.add((operation, batch) => {
      // Only on classic-level does a function see operations outside its sublevel.
      if (name === 'a' && operation.sublevel === other) return
      seen[name].push(['function', comparable(operation)])
      if (name === 'other' || operation.type !== 'put') return
      batch.add({
        type: 'put',
        key: `by ${name}`,
        value: name,
        keyEncoding: 'utf8',
        valueEncoding: 'utf8',
        mine: 1
      })
      batch.add({ type: 'del', key: [name], sublevel: other })
    })
    space.on('write', (operations) => {
      const given = operations.filter(({ key }) => !String(key).match(/by |other/)).map(comparable)
      const added = operations.filter(({ key }) => String(key).match(/by |other/)).map(comparable)
      const sorted = added.map((each) => JSON.stringify(each)).sort()
      seen[name].push(['event', given, sorted])
    })
  }

  await db.put('1', 'v', { mine: true })
  await a.put('2', { n: 1 })
  await b.put(Buffer.from('3'), new Uint8Array([1]))
  await b.del('4', { keyEncoding: 'utf8' })
  await a.batch([
    { type: 'put', key: '5', value: [5], own: 1 },
    { type: 'del', key: '6', mine: true }
  ])
  await a.batch().put('7', 7).del('8', { mine: true }).write()
  await b.batch([{ type: 'put', key: Buffer.from('9'), value: new Uint8Array(0) }])
  const entries = await db.iterator({ valueEncoding: 'buffer' }).all()
  await db.close()
  return { ...seen, entries }
}

testOnAll('functions and listeners see of the same writes what they see on classic-level', async (t) => {
  const classic = await observe(new ClassicLevel(temporaryDirectory(t)))
  const ours = await observe(newLevel(t))
  const functions = (seen) =>
    seen
      .filter(([kind]) => kind === 'function')
      .map((each) => JSON.stringify(each))
      .sort()
  const events = (seen) => seen.filter(([kind]) => kind === 'event')

  assert.deepEqual(ours.entries, classic.entries)
  for (const name of ['db', 'a', 'b', 'other']) {
    assert.deepEqual(functions(ours[name]), functions(classic[name]), name)
    assert.deepEqual(events(ours[name]), events(classic[name]), name)
    assert.ok(ours[name].length > 0 || name === 'other')
  }
})

test('the root hears of a write first, after it is stored', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  const b = a.sublevel('b')
  await b.open()
  const heard = []
  for (const [name, space] of Object.entries({ db, a, b })) {
    space.on('write', ([{ key }]) => heard.push([name, key, b.getSync('k')]))
  }

  const expected = [
    ['db', '!a!!b!k', 'v'],
    ['a', '!b!k', 'v'],
    ['b', 'k', 'v']
  ]
  await b.put('k', 'v')
  assert.deepEqual(heard.splice(0), expected)
  b.putSync('k', 'v')
  assert.deepEqual(heard.splice(0), expected)
  await b.batch().put('k', 'v').write()
  assert.deepEqual(heard.splice(0), expected)
  await db.sublevel(['a', 'b']).put('k', 'v')
  assert.deepEqual(heard, expected.slice(0, 1))
})

testOnAll('nobody hears of a write that a function refuses', async (t) => {
  const db = await openLevel(t)
  db.on('write', () => assert.fail('it was not written'))
  db.hooks.prewrite.add((_, batch) => batch.add({ type: 'put', key: 'added', value: 'v' }))
  db.hooks.prewrite.add(() => {
    throw new Error('no')
  })
  const batch = db.batch()
  assert.throws(() => batch.put('k', 'v'), { code: 'LEVEL_HOOK_ERROR' })
  await assert.rejects(db.put('k', 'v'), { code: 'LEVEL_HOOK_ERROR' })
  await batch.write()
})

testOnAll('a listener of clear that throws does not reject it', async (t) => {
  const db = await openLevel(t)
  await db.put('k', 'v')
  db.on('clear', () => {
    throw new Error('of the listener')
  })
  const uncaught = new Promise((resolve) => {
    const before = process.rawListeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (error) => {
      for (const listener of before) process.on('uncaughtException', listener)
      resolve(error.message)
    })
  })

  await db.clear()
  assert.equal(await uncaught, 'of the listener')
  assert.equal(await db.get('k'), undefined)
})

testOnAll('newsub sees each sublevel that is made, and may add hooks to it', async (t) => {
  const db = await openLevel(t)
  const seen = []
  db.hooks.newsub.add((sublevel, options) => {
    seen.push(sublevel.prefix, options.mine)
    sublevel.hooks.prewrite.add(({ key }) => seen.push(key))
  })
  const a = db.sublevel('a', { mine: 1 })
  a.sublevel('b')
  await a.put('k', 'v')
  assert.deepEqual(seen, ['!a!', 1, 'k'])
})

test('postopen may write with hooks before deferred writes', async (t) => {
  const db = newLevel(t)
  const seen = []
  db.hooks.prewrite.add(({ key }) => seen.push(key))
  db.hooks.postopen.add(async () => {
    await db.put('first', 'v')
    db.putSync('second', 'v')
  })
  await db.put('deferred', 'v')
  await db.close()
  assert.deepEqual(seen, ['first', 'second', 'deferred'])
})

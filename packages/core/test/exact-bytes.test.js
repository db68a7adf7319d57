// Typed arrays stored wrong bytes, and an encoder that returned null deleted the entry. Whatever an encoding returns, a back-end gets exactly
// its bytes, by every method; what could not be read again is refused.

import assert from 'node:assert/strict'
import { test as nodeTest } from 'node:test'
import { runInNewContext } from 'node:vm'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from './support/array-backend.js'
import { newLevel, openLevel, testOnAll } from './support/databases.js'
import {
  checkFound,
  checkRefused,
  checkStored,
  few,
  kinds,
  ofThese,
  refused,
  returning,
  viewOf,
  viewsWith,
  writes
} from './support/exact-bytes.js'

const views = viewsWith(runInNewContext('globalThis'))
const raw = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

for (const encoding of ['view', 'buffer']) {
  testOnAll(`with ${encoding}, a view of any kind is stored as its bytes by every method`, async (t) => {
    await checkStored(await openLevel(t), encoding, views)
  })

  testOnAll(`with ${encoding}, a view of any kind is the same key to every method`, async (t) => {
    await checkFound(await openLevel(t), encoding, views)
  })
}

testOnAll('what an encoding cannot store is refused by every method, and deletes nothing', async (t) => {
  await checkRefused(await openLevel(t))
})

testOnAll('the encodings that a database is made with take any view', async (t) => {
  const db = newLevel(t, { keyEncoding: 'view', valueEncoding: 'view' })
  const [, view] = views.find(([kind]) => kind === 'Float32Array')
  // Before the database is open.
  const writing = db.put(view, view)
  await writing
  assert.deepEqual(Buffer.from(await db.get(view)), Buffer.from(few))
  if (db.supports.getSync) assert.deepEqual(Buffer.from(db.getSync(view)), Buffer.from(few))
  assert.deepEqual(await db.iterator(raw).all(), [[Buffer.from(few), Buffer.from(few)]])
})

testOnAll('a view belongs to the caller again when a hooked write has returned', async (t) => {
  const db = await openLevel(t)
  const options = { keyEncoding: 'view', valueEncoding: 'view' }
  const see = () => {}
  db.hooks.prewrite.add(see)
  for (const View of kinds) {
    // Writes wait for those before them.
    const first = db.put('first', 'v')
    const view = viewOf(View, few)
    const second = db.put(view, view, options)
    new Uint8Array(view.buffer).fill(0)
    await Promise.all([first, second])
    assert.deepEqual(await db.get(few, raw), Buffer.from(few), View.name)
    await db.clear()
  }
})

testOnAll('listeners get exact bytes', async (t) => {
  const db = await openLevel(t)
  const heard = []
  db.on('write', (operations) => heard.push(...operations))
  const [, view] = views.find(([kind]) => kind === 'Float64Array')
  await db.put(view, view, { keyEncoding: 'view', valueEncoding: 'view' })
  const [{ key, value, encodedKey, encodedValue }] = heard
  assert.ok(key instanceof Float64Array && value instanceof Float64Array)
  for (const encoded of [encodedKey, encodedValue]) assert.deepEqual(Buffer.from(encoded), Buffer.from(few))
})

testOnAll('hex and base64 take any view for its bytes, and every form of their text', async (t) => {
  const db = await openLevel(t)
  for (const encoding of ['hex', 'base64']) {
    for (const [kind, view, bytes] of views) {
      await db.put('k', view, { valueEncoding: encoding })
      const text = Buffer.from(bytes).toString(encoding)
      assert.equal(await db.get('k', { valueEncoding: encoding }), text, `${encoding}, ${kind}`)
      await db.put(text, 'v', { keyEncoding: encoding })
      assert.equal(await db.get(view, { keyEncoding: encoding }), 'v', `${encoding}, ${kind}`)
    }
  }
  const texts = { hex: ['ABcd', 'abcd'], base64: ['_-8', '/+8='] }
  for (const [valueEncoding, [given, read]] of Object.entries(texts)) {
    await db.put('k', given, { valueEncoding })
    assert.equal(await db.get('k', { valueEncoding }), read)
  }
  await db.put('k', 'QUJD\r\nREVG\r\nQQ==', { valueEncoding: 'base64' })
  assert.equal(await db.get('k'), 'ABCDEFA')
})

testOnAll('utf8 takes any view for its text, and keeps a mark of the byte order', async (t) => {
  const db = await openLevel(t)
  const text = '\ufeffé 漢 😀, and more for 48 bytes'
  const bytes = Buffer.from(text.padEnd(text.length + 48 - Buffer.byteLength(text)))
  assert.equal(bytes.length, 48)
  for (const View of kinds) {
    for (const Memory of [ArrayBuffer, SharedArrayBuffer]) {
      await db.put('k', viewOf(View, bytes, Memory))
      assert.equal(await db.get('k'), bytes.toString(), View.name)
    }
  }
})

testOnAll('what an encoding returns in another form than its format is stored all the same', async (t) => {
  const db = await openLevel(t)
  const results = [
    ['text', 'buffer', 'text'],
    ['text', 'view', 'text'],
    [Buffer.from('é'), 'utf8', 'é'],
    [new Uint16Array([0x6261, 0x6463]), 'view', 'abcd'],
    [new Uint16Array([0x6261, 0x6463]), 'buffer', 'abcd'],
    [new Uint16Array([0x6261, 0x6463]), 'utf8', 'abcd']
  ]
  for (const [result, format, text] of results) {
    const odd = returning(result, format)
    for (const [way, write] of ofThese(writes, db)) {
      await write(db, 'x', 'x', { keyEncoding: odd, valueEncoding: odd })
      assert.deepEqual(await db.iterator().all(), [[text, text]], `${format}, ${way}`)
      await db.clear()
    }
  }
})

testOnAll("an encoding's own error stays what it is", async (t) => {
  const db = await openLevel(t)
  const error = new RangeError('mine')
  const fails = {
    name: 'fails',
    format: 'utf8',
    encode: () => {
      throw error
    },
    decode: String
  }
  await assert.rejects(db.put('k', 'v', { valueEncoding: fails }), (thrown) => thrown === error)
  await assert.rejects(db.get('k', { keyEncoding: fails }), (thrown) => thrown === error)
})

const codec = {
  name: 'codec',
  format: 'utf8',
  encode: (data) => (data === 'nothing' ? null : `<${data}>`),
  decode: (text) => text.slice(1, -1)
}

for (const formats of [['view'], ['buffer'], ['buffer', 'view'], ['utf8', 'view']]) {
  nodeTest(`a back-end of ${formats} gets exact bytes where encodings are transcoded`, async (t) => {
    const open = async (options) => {
      const db = new BackendLevel(new ArrayBackend({ formats, sync: true }), options)
      t.after(() => db.close())
      await db.open()
      return db
    }
    const db = await open()
    for (const encoding of ['view', 'buffer', 'hex', 'base64']) {
      for (const [kind, view, bytes] of views) {
        await db.put(view, view, { keyEncoding: encoding, valueEncoding: encoding })
        const what = `${encoding}, ${kind}`
        assert.deepEqual(await db.iterator(raw).all(), [[Buffer.from(bytes), Buffer.from(bytes)]], what)
        await db.clear()
      }
    }
    for (const [value, valueEncoding] of refused) {
      await assert.rejects(db.put('k', value, { valueEncoding }), { code: 'LEVEL_INVALID_VALUE' })
    }
    await db.put('k', { a: 'é' }, { valueEncoding: 'json' })
    assert.equal(await db.get('k'), '{"a":"é"}')

    // An encoding as the database's own, under its name, and as another database knows it.
    const own = await open({ keyEncoding: codec, valueEncoding: codec })
    const borrowed = [own.keyEncoding(), own.valueEncoding(), 'codec', codec]
    for (const valueEncoding of borrowed) {
      await own.put('k', 'v', { valueEncoding })
      assert.equal(await own.get('k'), 'v')
      assert.equal(own.getSync('k', { valueEncoding }), 'v')
      await assert.rejects(own.put('k', 'nothing', { valueEncoding }), { code: 'LEVEL_INVALID_VALUE' })
      await assert.rejects(own.get('nothing', { keyEncoding: valueEncoding }), { code: 'LEVEL_INVALID_KEY' })
    }
    const part = own.sublevel('part', { keyEncoding: own.keyEncoding(), valueEncoding: own.valueEncoding() })
    await part.put('k', 'v')
    assert.equal(await part.get('k', { valueEncoding: 'utf8' }), '<v>')
  })
}

nodeTest('encodings that are the same to abstract-level stay the same', async (t) => {
  const dbs = [['utf8', 'view'], ['view'], ['buffer']].map((formats) => {
    const db = new BackendLevel(new ArrayBackend({ formats, sync: true }))
    t.after(() => db.close())
    return db
  })
  for (const db of dbs) {
    await db.open()
    for (const name of ['utf8', 'json', 'view', 'buffer', 'hex', 'base64']) {
      const encoding = db.keyEncoding(name)
      assert.equal(db.keyEncoding(name), encoding)
      assert.equal(db.keyEncoding(encoding), encoding)
      assert.equal(db.keyEncoding(db.valueEncoding(name)), encoding)
      // Those of keys and values differ in their errors alone.
      assert.deepEqual(db.valueEncoding(name), encoding)
      for (const other of dbs) {
        const borrowed = other.valueEncoding(encoding)
        assert.equal(borrowed.commonName, name)
        assert.throws(() => borrowed.encode(Symbol('x')), { code: 'LEVEL_INVALID_VALUE' })
      }
    }
  }
})

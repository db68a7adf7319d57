// Level in a dedicated worker at its limits: the files that a browser opens, and the memory that WebAssembly can address.
//
// Long: a million entries, hundreds of sessions, values of hundreds of megabytes.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { run, runAfter, siteOf } from './support/worker-site.js'

const openPage = useBrowser()

/** Describes the outcome of a promise. */
const OUTCOME = `
  const outcome = (promise) => promise.then(() => 'done', (error) => error.code + ': ' + error.message)
`

test('a text of any length that is put after a small write of the same turn is stored', async (t) => {
  const functions = `
    export async function use(length) {
      const db = new Level('turn')
      await db.open()
      const text = 'x'.repeat(length)
      await Promise.all([db.put('small', '1'), db.put('large', text), db.put('last', '2')])
      const found = await db.getMany(['small', 'large', 'last'])
      await db.close()
      return [found[0], found[1] === text, found[2]]
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  for (const length of [1000, 10_000, 400_000, 1_000_000, 2_000_000]) {
    assert.deepEqual(await run(page, 'use', [length]), ['1', true, '2'], `${length} characters`)
  }
  assert.deepEqual(page.problems, [])
})

/** Functions for a worker: use a small database once, and count its files. */
const shortSessions = (key) => `
  const key = ${key}
  export async function use(first, end, isClosed) {
    for (let session = first; session < end; session++) {
      const db = new Level('short')
      await db.put(key(session), String(session))
      if ((await db.get(key(session))) !== String(session)) throw new Error('session ' + session)
      if (isClosed) await db.close()
    }
  }
  export async function end() {
    const root = await navigator.storage.getDirectory()
    let files = 0
    for await (const [, directory] of root.entries()) for await (const _ of directory.keys()) files++
    const db = new Level('short')
    const count = (await db.keys().all()).length
    await db.compactRange('', '\\uffff')
    await db.close()
    return { files, count }
  }
`

const ORDERS = {
  'the same key': `() => 'a'`,
  'ascending keys': `(session) => String(session).padStart(6, '0')`,
  'descending keys': `(session) => String(999999 - session)`
}

for (const [keys, key] of Object.entries(ORDERS)) {
  const distinct = (sessions) => (keys === 'the same key' ? 1 : sessions)

  test(`a small database that is opened, written once and closed 250 times stays small: ${keys}`, async (t) => {
    const page = await openPage(t, await serveSite(t, siteOf(shortSessions(key)), ENGINE_POLICY))
    await run(page, 'use', [0, 250, true])
    const { files, count } = await run(page, 'end')
    assert.equal(count, distinct(250))
    assert.ok(files <= 48, `${files} files`)
    assert.deepEqual(page.problems, [])
  })

  test(`a small database that is opened, written once and killed 60 times stays small: ${keys}`, async (t) => {
    const page = await openPage(t, await serveSite(t, siteOf(shortSessions(key)), ENGINE_POLICY))
    for (let session = 0; session < 60; session++) {
      await runAfter(page, 'use', [session, session + 1, false], session)
      await page.evaluate((number) => globalThis.workers[number].terminate(), session)
    }
    const { files, count } = await runAfter(page, 'end', [], 60)
    assert.equal(count, distinct(60))
    assert.ok(files <= 48, `${files} files`)
    assert.deepEqual(page.problems, [])
  })
}

test('clear() of a million entries beside an open iterator deletes all of them, in the order of the calls', async (t) => {
  const functions = `
    ${OUTCOME}
    export async function use(total) {
      const db = new Level('large')
      const put = (start) => (_, index) => ({ type: 'put', key: String(start + index).padStart(8, '0'), value: 'x'.repeat(10) })
      for (let start = 0; start < total; start += 1000) await db.batch(Array.from({ length: 1000 }, put(start)))
      const iterator = db.keys()
      await iterator.next()
      const calls = [db.put('before', '1'), db.clear(), db.put('after', '2'), db.batch([{ type: 'put', key: '00000001', value: 'again' }])]
      const outcomes = await Promise.all(calls.map(outcome))
      const left = await db.iterator().all()
      let seen = 1
      while ((await iterator.next()) !== undefined) seen++
      await iterator.close()
      await db.close()
      await db.open()
      const reopened = await db.iterator().all()
      // What is written without waiting comes after the clear, too.
      const second = db.clear()
      db.putSync('sync', '3')
      await second
      const last = await db.iterator().all()
      await db.close()
      return { outcomes, left, seen, reopened, last }
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const total = 1_000_000
  const { outcomes, left, seen, reopened, last } = await run(page, 'use', [total])
  assert.deepEqual(outcomes, ['done', 'done', 'done', 'done'])
  const expected = [
    ['00000001', 'again'],
    ['after', '2']
  ]
  assert.deepEqual(left, expected)
  assert.equal(seen, total)
  assert.deepEqual(reopened, expected)
  assert.deepEqual(last, [['sync', '3']])
  assert.deepEqual(page.problems, [])
})

test('a key or value over its limit is refused before anything is stored, and the largest are read back', async (t) => {
  const functions = `
    ${OUTCOME}
    const MIB = 1 << 20
    const options = { keyEncoding: 'view', valueEncoding: 'view' }
    const bytes = (length) => new Uint8Array(length).fill(120)
    const doors = {
      put: (db, key, value) => db.put(key, value),
      batch: (db, key, value) => db.batch([{ type: 'put', key: bytes(1), value: bytes(1) }, { type: 'put', key, value }]),
      chained: (db, key, value) => db.batch().put(bytes(1), bytes(1)).put(key, value).write(),
      sync: async (db, key, value) => db.putSync(key, value),
      del: (db, key) => db.del(key)
    }
    export async function refuse() {
      const db = new Level('limits', options)
      const outcomes = {}
      for (const [door, write] of Object.entries(doors)) {
        outcomes[door] = [await outcome(write(db, bytes(64 * MIB + 1), bytes(1)))]
        if (door === 'del') continue
        for (const length of [256 * MIB + 1, 700 * MIB]) {
          outcomes[door].push(await outcome(write(db, bytes(2), bytes(length))))
        }
      }
      outcomes.count = (await db.keys().all()).length
      outcomes.after = await outcome(db.put(bytes(4), bytes(4)))
      await db.close()
      await db.open()
      outcomes.reopened = (await db.keys().all()).length
      await db.close()
      return outcomes
    }
    export async function largest() {
      const db = new Level('limits', options)
      await db.put(bytes(64 * MIB), bytes(1))
      await db.put(bytes(5), bytes(256 * MIB))
      await db.put(bytes(6), bytes(256 * MIB))
      const lengths = []
      const read = async () => {
        for (const length of [5, 6]) lengths.push((await db.get(bytes(length))).length)
        let walked = 0
        for await (const [key, value] of db.iterator()) walked += key.length + value.length
        lengths.push(walked)
      }
      await read()
      await db.close()
      await db.open()
      await read()
      await db.compactRange(new Uint8Array(0), bytes(7))
      await read()
      await db.close()
      return lengths
    }
    export async function text() {
      const db = new Level('text')
      const value = 'x'.repeat(200 * MIB)
      await db.put('a', value)
      const isSame = (await db.get('a')) === value
      await db.close()
      return isSame
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const { count, after, reopened, ...outcomes } = await run(page, 'refuse')
  for (const [door, refused] of Object.entries(outcomes)) {
    for (const outcome of refused) assert.match(outcome, /^LEVEL_INVALID_ARGUMENT: /, door)
  }
  assert.deepEqual([count, after, reopened], [0, 'done', 1])

  const mib = 1 << 20
  const walked = 64 * mib + 1 + 5 + 6 + 512 * mib + 8
  const once = [256 * mib, 256 * mib, walked]
  assert.deepEqual(await runAfter(page, 'largest', [], 1), [...once, ...once, ...once])
  assert.equal(await runAfter(page, 'text', [], 2), true)
  assert.deepEqual(page.problems, [])
})

test('a database that an earlier build has spoilt by a key over the limit is repaired: all other entries stay, and the report names the key', async (t) => {
  const functions = `
    const FRAME = 7, BLOCK = 32768
    const table = Uint32Array.from({ length: 256 }, (_, byte) => {
      for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0x82f63b78 : byte >>> 1
      return byte
    })
    /** A fragment of a record of LevelDB's logs. */
    function fragment(type, bytes) {
      let crc = 0xffffffff
      for (const byte of [type]) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8)
      for (let at = 0; at < bytes.length; at++) crc = table[(crc ^ bytes[at]) & 255] ^ (crc >>> 8)
      crc ^= 0xffffffff
      const whole = new Uint8Array(FRAME + bytes.length)
      const view = new DataView(whole.buffer)
      view.setUint32(0, ((crc >>> 15) | (crc << 17)) + 0xa282ead8, true)
      view.setUint16(4, bytes.length, true)
      view.setUint8(6, type)
      whole.set(bytes, FRAME)
      return whole
    }
    function recordAt(offset, payload) {
      const parts = []
      let at = 0
      do {
        let room = BLOCK - (offset % BLOCK)
        if (room < FRAME) {
          parts.push(new Uint8Array(room))
          offset += room
          room = BLOCK
        }
        const end = Math.min(payload.length, at + room - FRAME)
        const type = end === payload.length ? (at === 0 ? 1 : 4) : at === 0 ? 2 : 3
        parts.push(fragment(type, payload.subarray(at, end)))
        offset += FRAME + end - at
        at = end
      } while (at < payload.length)
      return new Blob(parts)
    }
    const varint = (number) => {
      const bytes = []
      for (; number > 127; number = Math.floor(number / 128)) bytes.push((number & 127) | 128)
      return [...bytes, number]
    }
    const text = (string) => new TextEncoder().encode(string)

    /** Adds to the log a batch with such a key, as if that build had. */
    export async function spoil(keyBytes) {
      const db = new Level('spoilt')
      await db.put('before', '1')
      await db.put('the mark of the log', '2')
      await db.close()
      const root = await navigator.storage.getDirectory()
      const directory = await root.getDirectoryHandle('spoilt.terrace')
      for await (const handle of directory.values()) {
        const file = await handle.getFile()
        const contents = new TextDecoder('latin1').decode(await file.arrayBuffer())
        if (!contents.includes('the mark of the log')) continue
        const key = new Uint8Array(keyBytes).fill(107)
        key.set(text('user:'))
        const head = new Uint8Array(12)
        new DataView(head.buffer).setUint32(0, 3, true)
        new DataView(head.buffer).setUint32(8, 3, true)
        const put = (key, value) => [Uint8Array.of(1, ...varint(key.length)), key, Uint8Array.of(...varint(value.length)), value]
        const parts = [head, ...put(text('beside'), text('3')), ...put(key, text('x')), ...put(text('last'), text('4'))]
        const payload = new Uint8Array(await new Blob(parts).arrayBuffer())
        const writing = await handle.createSyncAccessHandle()
        writing.write(new Uint8Array(await recordAt(file.size, payload).arrayBuffer()), { at: file.size })
        writing.flush()
        writing.close()
        return true
      }
      return false
    }

    export async function use() {
      const { nothingLost, text } = await Level.repair('spoilt')
      const db = new Level('spoilt')
      const entries = await db.iterator().all()
      await db.put('after', '5', { sync: true })
      await db.compactRange('', '\\uffff')
      await db.close()
      await db.open()
      const after = await db.get('after')
      await db.close()
      return { nothingLost, text, entries, after }
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  assert.equal(await run(page, 'spoil', [(64 << 20) + 1]), true)
  const { nothingLost, text, entries, after } = await run(page, 'use')
  assert.deepEqual(entries, [
    ['before', '1'],
    ['beside', '3'],
    ['last', '4'],
    ['the mark of the log', '2']
  ])
  assert.equal(nothingLost, false)
  assert.match(text, /a write whose key has 67108865 bytes, .* the key "user:kkkk/)
  assert.equal(after, '5')
  assert.deepEqual(page.problems, [])
})

// Limits count bytes: what a client makes the server hold is bounded, however few requests it takes.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { MemoryLevel as PlainMemoryLevel } from 'memory-level'
import { Level, MemoryLevel } from 'terrace'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { directory } from './support/program.js'
import { greetedClient } from './support/raw-client.js'
import { serve } from './support/served.js'

const bytes = (text) => Buffer.from(text)
const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/** Every kind of database that reads differently. */
const databases = {
  'memory-level': () => new PlainMemoryLevel(buffers),
  MemoryLevel: () => new MemoryLevel(buffers),
  Level: (t) => new Level(directory(t), buffers)
}

/** Memory in buffers after garbage was collected. */
async function held() {
  for (let i = 0; i < 3; i++) {
    await turns(20)
    globalThis.gc()
  }
  return process.memoryUsage().arrayBuffers
}

for (const [name, make] of Object.entries(databases)) {
  test(`getMany() is held to messageBytes, whether keys are few or the same: ${name}`, async (t) => {
    const limits = { messageBytes: 1 << 20, unsentBytes: 1 << 18 }
    const { address, db, stop } = await serve({ db: make(t), limits })
    t.after(stop)
    const keys = Array.from({ length: 20 }, (_, i) => bytes(`key ${i}`))
    await db.batch(keys.map((key) => ({ type: 'put', key, value: Buffer.alloc(300_000, 7) })))
    const client = await greetedClient(address)
    t.after(() => client.close())
    for (const asked of [keys, keys.slice(0, 4), Array(100).fill(keys[0]), Array(4).fill(keys[0])]) {
      const [kind, , code] = await client.ask(Ask.getMany, asked, null)
      assert.deepEqual([kind, code], [Tell.failure, 'NET_LIMIT'], asked.length)
    }
    const [kind, , values] = await client.ask(Ask.getMany, keys.slice(0, 3), null)
    assert.deepEqual([kind, values.length], [Tell.result, 3])
    assert.deepEqual((await client.ask(Ask.hasMany, keys, null))[2], Array(20).fill(true))
  })

  test(`a page has no more than its mark and one entry, whatever the sizes: ${name}`, async (t) => {
    const { address, db, stop } = await serve({ db: make(t) })
    t.after(stop)
    const MARK = 16 * 1024
    const LARGE = 300_000
    /** Small entries first, so that later ones are larger than was to be expected. */
    const sizes = Array.from({ length: 120 }, (_, i) => (i < 40 ? 10 : i % 3 === 0 ? 10 : LARGE))
    const entries = sizes.map((size, i) => [bytes(String(i).padStart(4, '0')), Buffer.alloc(size, i)])
    await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
    const client = await greetedClient(address)
    t.after(() => client.close())

    for (const [handle, parts] of [
      [1, 3],
      [2, 2],
      [3, 1]
    ]) {
      await client.ask(Ask.cursor, handle, [null, null, null, null], false, parts, null)
      const found = []
      for (let number = 0; ; number++) {
        const read = () => client.ask(Ask.read, handle, number, 1000, MARK)
        const [, , [isAtEnd, page, ...lengths]] = await read()
        if (page !== null) {
          assert.ok(page.length <= MARK + LARGE + 4, `a page of ${page.length} bytes`)
          // Asked for again, as after a connection was lost.
          if (number % 5 === 0) assert.deepEqual((await read())[2].slice(1), [page, ...lengths])
          found.push(page)
        }
        if (isAtEnd) break
      }
      const whole = entries.flatMap(([key, value]) =>
        parts === 1 ? [key] : parts === 2 ? [value] : [key, value]
      )
      assert.ok(Buffer.concat(found).equals(Buffer.concat(whole)), `parts ${parts}`)
    }
  })

  test(`iterators that nobody reads on hold no pages: ${name}`, async (t) => {
    const { address, db, stop } = await serve({ db: make(t) })
    t.after(stop)
    const VALUE = 4 << 20
    await db.batch(['a', 'b'].map((key) => ({ type: 'put', key: bytes(key), value: Buffer.alloc(VALUE) })))
    const client = await greetedClient(address)
    t.after(() => client.close())
    const before = await held()
    const COUNT = 40
    for (let handle = 1; handle <= COUNT; handle++) {
      await client.ask(Ask.cursor, handle, [null, null, null, null], false, 3, null)
      await client.ask(Ask.read, handle, 0, 100, 16 * 1024)
    }
    const more = (await held()) - before
    assert.ok(more < (COUNT * VALUE) / 2, `${more} bytes are held`)
    const [, , [, page]] = await client.ask(Ask.read, 1, 1, 100, 16 * 1024)
    assert.equal(page[0], bytes('b')[0])
  })
}

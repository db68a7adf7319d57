// The development servers of bundlers, started on projects in which our packages are installed as npm would publish them. Pages of
// each open a database in Chromium, and share it.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { after, test } from 'node:test'
import { useBrowser as browser } from '../../browser/test/support/browser.js'
import { Projects } from '../../support/projects.mjs'
import { nextProjectOf, nextServers, projectOf, servers } from './support/dev-servers.js'
import { tools } from './support/project.js'

const PROGRAM = `
  import { Level, MemoryLevel } from 'terrace'
  import { copy, dump, restore } from 'terrace-toolbox/copy'
  import { feed } from 'terrace-toolbox/feed'
  import { index } from 'terrace-toolbox/index'
  import { lock } from 'terrace-toolbox/lock'
  import { readable, webReadableKeys, webWritable } from 'terrace-toolbox/streams'
  import { transactions } from 'terrace-toolbox/transaction'
  import { ttl } from 'terrace-toolbox/ttl'

  globalThis.openDatabase = async (location, options) => {
    globalThis.db = new Level(location, options)
    await globalThis.db.open()
  }
  globalThis.inMemory = async () => {
    const db = new MemoryLevel()
    await db.put('key', 'value')
    return db.getSync('key')
  }
  globalThis.parts = {
    async index(db) {
      await db.put('old', { n: 2 })
      const byN = index(db, { name: 'n', on: 'n' })
      await db.put('new', { n: 1 })
      await byN.ready
      const keys = []
      for await (const key of byN.keys()) keys.push(key)
      return keys
    },
    async transaction(db) {
      await db.put('a', 1)
      const transaction = transactions(db)
      const add = () => transaction(async (tx) => tx.put('a', (await tx.get('a')) + 1))
      await Promise.all([add(), add()])
      return db.get('a')
    },
    async streams(db) {
      const writer = webWritable(db).getWriter()
      await writer.write(['a', 1])
      await writer.close()
      const keys = []
      for await (const key of webReadableKeys(db)) keys.push(key)
      let code
      try { readable(db) } catch (error) { code = error.code }
      return [keys, code]
    },
    async copy(db) {
      await db.batch([{ type: 'put', key: 'a', value: 1 }, { type: 'put', key: 'b', value: 2 }])
      const to = new MemoryLevel({ valueEncoding: 'json' })
      const { entries, checksum } = await copy(db, to)
      const pieces = []
      await dump(to, new WritableStream({ write: (piece) => void pieces.push(piece) }))
      await to.clear()
      const restored = await restore(to, pieces)
      return [entries, checksum === restored.checksum, checksum, await to.get('b')]
    },
    async ttl(db) {
      const some = ttl(db.sublevel('some', { valueEncoding: 'json' }), { defaultTtlMs: 3_600_000 })
      await some.put('a', 1)
      return some.get('a')
    },
    async feed(db) {
      const changes = feed(db)
      await db.put('a', 1)
      const seen = []
      for await (const { type, key, value } of changes.read({ after: 0 })) seen.push([type, key, value])
      return seen
    },
    lock: (db) => lock(db).withLock(['a'], async () => 'held')
  }
  globalThis.runParts = async () => {
    const results = {}
    for (const [name, run] of Object.entries(globalThis.parts)) {
      const db = new Level('part ' + name, { shared: false, valueEncoding: 'json' })
      results[name] = await run(db).catch((error) => String(error.stack))
      await db.close()
    }
    return results
  }
`

/** What the parts of the toolbox do in Node with the same entries. */
const PARTS = {
  index: ['new', 'old'],
  transaction: 3,
  streams: [['a'], 'STREAM_NOT_SUPPORTED'],
  copy: [2, true, 625698271, 2],
  ttl: 1,
  feed: [['put', 'a', 1]],
  lock: 'held'
}

const openPage = browser()
// Next looks for itself above the project.
const projects = new Projects(dirname(tools))
after(() => projects.remove())

/** Parcel 2 reads the `exports` of a package only with this setting. */
const manifest = { '@parcel/resolver-default': { packageExports: true } }

const archives = () => projects.archivesOf('packages/terrace', 'packages/toolbox')

let number = 0
for (const [name, serve, files] of [
  ...Object.entries(servers).map((each) => [...each, projectOf]),
  ...Object.entries(nextServers).map((each) => [...each, nextProjectOf])
]) {
  test(`pages of the development server of ${name} open a database, share it, and use the toolbox`, async (t) => {
    const directory = projects.make(`project-${++number}`, {
      archives: archives(),
      files: files(PROGRAM),
      manifest
    })
    const url = await serve(t, directory)
    const pages = [await openPage(t, url), await openPage(t, url)]
    for (const page of pages) {
      await page.waitForFunction(() => globalThis.openDatabase !== undefined, undefined, { polling: 20 })
      await page.evaluate(() => globalThis.openDatabase('shared'))
    }
    await pages[1].evaluate(() => globalThis.db.put('key', 'value'))
    const seen = await Promise.all(
      pages.map((page) =>
        page.evaluate(async () => [
          await globalThis.db.get('key'),
          globalThis.db.storage,
          globalThis.db.isOwner
        ])
      )
    )
    assert.deepEqual(seen, [
      ['value', 'opfs', true],
      ['value', 'opfs', false]
    ])
    const elsewhere = await pages[0].evaluate(async () => {
      await globalThis.openDatabase('another', { storage: 'indexeddb', shared: false })
      await globalThis.db.put('key', 'other')
      return [await globalThis.db.get('key'), globalThis.db.storage, await globalThis.inMemory()]
    })
    assert.deepEqual(elsewhere, ['other', 'indexeddb', 'value'])
    assert.deepEqual(await pages[0].evaluate(() => globalThis.runParts()), PARTS)
    for (const { problems } of pages) assert.deepEqual(problems, [])
  })
}

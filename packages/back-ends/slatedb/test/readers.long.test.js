// A reader of another process on an object store. Long, because that is a server, which takes its time.

import { after, before, test } from 'node:test'
import { readBeside } from './support/read-beside.js'
import { missing, Store } from './support/store.js'

let store

before(async () => {
  if (missing === undefined) store = await Store.start()
})
// After the databases of all tests are closed: a close waits for the store.
after(() => store?.stop())

test('a reader of another process on an object store', { skip: missing ?? false }, async (t) => {
  await readBeside(t, store.location(), { ...store.options, flushIntervalMs: 50 }, 40, 1000)
})

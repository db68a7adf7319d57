// Two writers of a database in an object store. Long, because that is a server, which takes its time.

import { after, before, test } from 'node:test'
import { missing, Store } from './support/store.js'
import { assertNoneLost, takeTurns } from './support/turns.js'

let store

before(async () => {
  if (missing === undefined) store = await Store.start()
})
// After the databases of all tests are closed: a close waits for the store.
after(() => store?.stop())

test('writers that fence each other in an object store lose no acknowledged write', {
  skip: missing ?? false
}, async (t) => {
  assertNoneLost(await takeTurns(t, store.location(), store.options, 5))
})

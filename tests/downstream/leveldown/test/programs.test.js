// Programs that store data in leveldown, each from its package on npm.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../../support/form.mjs'
import { both, bothPrint } from './support/both.js'

test('PouchDB', async (t) => {
  // Its databases have a random identifier each.
  assert.match(await bothPrint(t, 'pouchdb.js', String(scaled(10_000))), /^destroyed: 0$/m)
})

test('merkle-patricia-tree', async (t) => {
  assert.match(await both(t, 'merkle.js'), /^again: '2' 'back'$/m)
})

test('y-leveldb', async (t) => {
  assert.match(await both(t, 'yjs.js'), /^names: \[ 'gone', 'minutes\/2026', 'notes' \]/m)
})

test('dynalite', async (t) => {
  // The description of a table has the time of its creation.
  assert.match(await bothPrint(t, 'dynalite.js'), /^gone: 'DELETING'$/m)
})

test('ethereumjs-blockchain', async (t) => {
  assert.match(await both(t, 'blockchain.js'), /^iterated: /m)
})

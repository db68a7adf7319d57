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

test('ganache', async (t) => {
  const printed = await both(t, 'ganache.js')
  assert.match(printed, /^value: '0x0{62}2a'$/m)
  assert.match(printed, /^reverted: true '0x16'$/m)
})

test('flumelog-level', async (t) => {
  // Its keys are times.
  assert.match(await bothPrint(t, 'flume.js', 'log'), /^in order: true true$/m)
})

test('flumeview-level', async (t) => {
  assert.match(await both(t, 'flume.js', 'index'), /^none: 'Key not found in database/m)
})

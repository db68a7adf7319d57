// Databases in separate directories, closed and removed after the test, and calls with callbacks as promises.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from '../../../core/test/support/array-backend.js'

const require = createRequire(import.meta.url)
export const leveldown = require('terrace-leveldown')
export const memdown = require('terrace-leveldown/memory')
const { Database, initialize } = require('../../dist/database.js')
const { hybrid } = require('../../dist/hybrid.js')
const { manifest } = require('../../dist/manifest.js')

const left = []
process.on('exit', () => {
  for (const directory of left) rmSync(directory, { recursive: true, force: true })
})

/** A directory that does not exist yet, whose parent is removed in the end. */
export function newLocation() {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-leveldown-'))
  left.push(directory)
  return join(directory, 'db')
}

/** A class like memdown over what `create` makes. */
function classOver(create) {
  const kind = {
    location: undefined,
    notFoundMessage: 'NotFound',
    ignoresEmptyBounds: false,
    fillsAbsent: false
  }
  return hybrid('TestDOWN', Database, (db) => {
    initialize(db, { ...kind, create }, manifest({}))
  })
}

let seed = 0

/** Databases in memory that answer none of their calls at once. */
export const AsyncDOWN = classOver(
  () => new BackendLevel(new ArrayBackend({ formats: ['view'], seed: ++seed }))
)

/** Databases in memory that answer some of their calls at once. */
export const MixedDOWN = classOver(() => new BackendLevel(new ArrayBackend({ sync: true, seed: ++seed })))

/** Databases with a function in their prewrite hook that sees every write. */
export const HookedDOWN = classOver(() => {
  const level = new BackendLevel(new ArrayBackend({ sync: true, seed: ++seed }))
  level.hooks.prewrite.add(() => {})
  return level
})

/** The makers of every kind of database, by name. */
export const makers = {
  disk: () => leveldown(newLocation()),
  memory: () => memdown(),
  asynchronous: () => new AsyncDOWN(),
  mixed: () => new MixedDOWN(),
  hooked: () => new HookedDOWN()
}

/** An open database, closed after the test. */
export async function opened(t, db, options = {}) {
  await call(db, 'open', options)
  t?.after(() => call(db, 'close'))
  return db
}

/** Calls a method that takes a callback as its last argument. Resolves with the results, or rejects with the error. */
export function call(object, method, ...args) {
  return new Promise((resolve, reject) => {
    object[method](...args, (error, ...results) => {
      if (error) reject(error)
      else resolve(results.length > 1 ? results : results[0])
    })
  })
}

/** The error that a method passes to its callback. */
export async function errorOf(object, method, ...args) {
  try {
    await call(object, method, ...args)
  } catch (error) {
    return error
  }
  throw new Error(`${method}() has not failed`)
}

/** All entries of an iterator, as text. */
export async function entriesOf(iterator) {
  const entries = []
  for await (const [key, value] of iterator) entries.push([String(key), String(value)])
  return entries
}

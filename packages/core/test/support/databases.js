// The databases that the tests run on. They are closed and removed after the test. A test is about the class over a back-end,
// so it runs over each back-end: `test()` over those with synchronous methods, `testOnAll()` over all.

import { AsyncLocalStorage } from 'node:async_hooks'
import { test as nodeTest } from 'node:test'
import { Level } from 'terrace'
import { BackendLevel } from 'terrace-core'
import { belongingsOf, temporaryDirectory } from '../../../terrace/test/support/databases.js'
import { ArrayBackend } from './array-backend.js'

export { entries, temporaryDirectory } from '../../../terrace/test/support/databases.js'

let seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

const ENGINE = 'the engine'

const synchronous = {
  getSync: true,
  putSync: true,
  everyWrite: true,
  conditionalWrites: true,
  versions: true
}
const asynchronous = { ...synchronous, getSync: false, putSync: false }

/** For each name, how to make a database for a test, and what it can do. */
const kinds = {
  [ENGINE]: { supports: synchronous, make: (t, options) => new Level(temporaryDirectory(t), options) },
  [`an array at once or later (TERRACE_SEED=${seed})`]: {
    supports: synchronous,
    make: array({ sync: true })
  },
  [`an array later (TERRACE_SEED=${seed})`]: { supports: asynchronous, make: array({ sync: false }) }
}

// Packages of back-ends run these tests over their databases as well.
const { TERRACE_TEST_DATABASE: other } = process.env
if (other !== undefined) {
  const { name, Database, supports } = await import(other)
  kinds[name] = { supports, make: (t, options) => new Database(temporaryDirectory(t), options) }
}

function array(kind) {
  return (_, options) => new BackendLevel(new ArrayBackend({ ...kind, seed: seed++ }), options)
}

const running = new AsyncLocalStorage()

/** The kinds of databases, from {@link kinds}. Without `later`, only those with synchronous methods. */
export function kindsOf({ later = true } = {}) {
  return Object.entries(kinds).filter(([, { supports }]) => later || supports.putSync)
}

function testOn(names, name, run) {
  for (const [kind, { make }] of names) nodeTest(`${name} (${kind})`, (t) => running.run(make, () => run(t)))
}

/** Runs a test that needs synchronous methods over each back-end that has them. */
export function test(name, run) {
  testOn(kindsOf({ later: false }), name, run)
}

/** Runs a test of what the engine promises beyond the interface. */
export function testOnEngine(name, run) {
  testOn([[ENGINE, kinds[ENGINE]]], name, run)
}

/**
 * Runs a test whose hook functions read, over each back-end where they can: not over one that others write to as well and that
 * cannot read within a call.
 */
export function testHookReads(name, run) {
  const canRead = ([, { supports }]) => supports.getSync || supports.everyWrite
  testOn(kindsOf().filter(canRead), name, run)
}

/** Runs a test of conditions over each back-end that can write under conditions, or over the others. */
export function testConditions(name, run, { refused = false } = {}) {
  testOn(
    kindsOf().filter(([, { supports }]) => supports.conditionalWrites !== refused),
    name,
    run
  )
}

/** Runs a test of versions over each back-end whose entries have them, or over the others. */
export function testVersions(name, run, { refused = false } = {}) {
  testOn(
    kindsOf().filter(([, { supports }]) => (supports.versions === true) !== refused),
    name,
    run
  )
}

/** Runs a test over each back-end. */
export function testOnAll(name, run) {
  testOn(kindsOf(), name, run)
}

/** Whether a database can write within a call. */
export function writesAtOnce({ supports: { additionalMethods } }) {
  return additionalMethods.putSync === true
}

/** Makes a database, not yet open, over the back-end that the test runs on. */
export function newLevel(t, options) {
  const db = running.getStore()(t, options)
  belongingsOf(t).databases.push(db)
  return db
}

/** Opens a database, which is closed after the test. */
export async function opened(t, db) {
  belongingsOf(t).databases.push(db)
  await db.open()
  return db
}

/** Makes an open database over that back-end. */
export async function openLevel(t, options) {
  const db = newLevel(t, options)
  await db.open()
  return db
}

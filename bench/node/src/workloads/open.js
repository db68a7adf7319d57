/** Creates databases, and opens databases that are empty, small, left by a killed process, and of many tables. */

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../errors.js'
import { openMany } from '../opening/many.js'
import { callsOfOpen, writeAndDie } from '../opening/steps.js'
import { verify, Written } from '../verify.js'
import { writeInOrder } from './writes.js'

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../opening/trace.js').Calls} Calls */

/** A buffer of this size that is full becomes one table, since the entries come in order. LevelDB takes no smaller ones. */
const TABLE_BYTES = 64 << 10
/** Of the large database, so that its entries are not too many. */
const VALUE_BYTES = 1000
const ENTRIES_A_TABLE = Math.ceil(TABLE_BYTES / VALUE_BYTES)

/** @param {Context} context */
export async function open(context) {
  const { n, stores, tables } = context.settings
  if (context.target.inMemory) throw new UsageError('has no files to open')
  // First, while the process has opened nothing else.
  const many = await openMany(context, stores)
  /** @type {Record<string, Calls | null>} */
  const calls = { 'create and close': await create(context, 'create and close') }
  for (const [what, count] of /** @type {const} */ ([
    ['empty', 0],
    [`${amount(n)} entries`, n]
  ])) {
    const location = context.newLocation()
    await fill(context, location, { count })
    calls[`open and close, ${what}`] = await reopen(context, `open and close, ${what}`, location, { count })
    await remove(location)
  }
  const killed = `open and close after a kill, ${amount(n)} entries in the log`
  calls[killed] = await reopenKilled(context, killed)
  const large = `open and close, ${amount(tables)} tables`
  calls[large] = await reopenLarge(context, large)
  return { calls, many }
}

/** @param {number} number */
function amount(number) {
  return number.toLocaleString('en')
}

/** Removes the directory that was made for a database. @param {string} location */
function remove(location) {
  return rm(dirname(location), { recursive: true, force: true })
}

/**
 * @typedef {object} Contents
 * @property {number} count entries
 * @property {number} [valueSize]
 * @property {number} [batchSize]
 */

/**
 * Loads a database at `location` in order, and closes it.
 * @param {Context} context
 * @param {string} location
 * @param {Contents} contents
 * @param {{ sync?: boolean, more?: object }} [options]
 */
async function fill(context, location, { count, valueSize, batchSize }, options) {
  const session = await context.open({ location, valueSize, ...options })
  await writeInOrder(context, session, count, batchSize)
  await session.suspend()
}

/** @param {Context} context @param {string} name */
async function create(context, name) {
  const { repeats } = context.settings
  const [first, counted, ...others] = context.newLocations(repeats + 2)
  // Into a directory that is empty, a database may have to write more.
  await (await context.open({ location: first })).suspend()
  await recordOpens(context, name, others)
  const calls = await callsOfOpen(context, counted)
  await remove(first)
  return calls
}

/**
 * Opens and closes the database at each of these places, which are there or not.
 * @param {Context} context
 * @param {string} name
 * @param {string[]} locations
 */
async function recordOpens(context, name, locations) {
  await context.recorder.record(name, async (watch) => {
    watch.start()
    for (const location of locations) await (await context.open({ location })).suspend()
    watch.stop()
    return locations.length
  })
}

/**
 * Checks what is in a database, then opens and closes it again and again.
 * @param {Context} context
 * @param {string} name
 * @param {string} location
 * @param {Contents} contents
 */
async function reopen(context, name, location, { count, valueSize }) {
  const { repeats } = context.settings
  const session = await context.open({ location, valueSize })
  await verify(session, Written.all(count))
  await session.suspend()
  await context.recorder.record(name, async (watch) => {
    watch.start()
    for (let i = 0; i < repeats; i++) {
      await session.resume()
      await session.suspend()
    }
    watch.stop()
    return repeats
  })
  return callsOfOpen(context, location)
}

/**
 * Opens what a process leaves that is killed while it writes: another one each time, since an open changes it.
 * @param {Context} context
 * @param {string} name
 */
async function reopenKilled(context, name) {
  const { n, repeats } = context.settings
  const locations = context.newLocations(repeats + 1)
  await writeAndDie(context, locations)
  const [counted, ...others] = locations
  await recordOpens(context, name, others)
  const calls = await callsOfOpen(context, counted)
  const session = await context.open({ location: counted })
  await verify(session, Written.all(n))
  await session.suspend()
  await remove(counted)
  return calls
}

/**
 * Opens a database of many tables, or of as many entries. It takes long to make, so all rounds use the same.
 * @param {Context} context
 * @param {string} name
 */
async function reopenLarge(context, name) {
  const { tables } = context.settings
  const location = context.sharedLocation(`${tables} tables`)
  const contents = { count: tables * ENTRIES_A_TABLE, valueSize: VALUE_BYTES, batchSize: ENTRIES_A_TABLE }
  if (!existsSync(location)) {
    const more = context.target.adapter === null ? { writeBufferSize: TABLE_BYTES } : {}
    await fill(context, location, contents, { sync: false, more })
  }
  return reopen(context, name, location, contents)
}

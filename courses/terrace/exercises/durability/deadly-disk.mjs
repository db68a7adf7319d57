// Is loaded before the learner's program: notes each write, and can end the process in the middle of one, before the database has it.

import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

/** The name of the file with the noted writes: `{ keys, sync }` in JSON, one a line. */
const NOTES = process.env.NOTED_WRITES

/** The number of the write that the process does not survive; 0 for none. */
const LAST_WRITE = Number(process.env.LAST_WRITE)

/** How long the last write seems to be on its way, so that a program that does not wait for it goes on meanwhile. */
const LAST_WRITE_MS = 30

let writes = 0

const { prototype } = levelOf(process.argv[1]) ?? levelOf(import.meta.url)
const { put, batch, putSync, batchSync } = prototype
const ofPut = (key, _value, options) => ({ operations: [{ key }], options })
const ofBatch = (operations, options) => ({ operations, options })

prototype.put = onSuchDisk(put, ofPut)
prototype.putSync = onSuchDiskSync(putSync, ofPut)
prototype.batchSync = onSuchDiskSync(batchSync, ofBatch)
prototype.batch = function (...args) {
  return args.length > 0 ? onSuchDisk(batch, ofBatch).apply(this, args) : chainedOnSuchDisk(batch.call(this))
}

/** The class of the database that a module gets, which may have a copy of its own beside it. */
function levelOf(importer) {
  try {
    return createRequire(importer)('terrace').Level
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** A method that writes, as it is on such a disk. */
function onSuchDisk(write, operationsOf) {
  return function (...args) {
    const { operations, options } = operationsOf(...args)
    note(operations, options)
    if (writes === LAST_WRITE) return dieLater()
    // What comes after the last write has to wait for it.
    const isTooLate = LAST_WRITE > 0 && writes > LAST_WRITE
    return isTooLate ? new Promise(() => {}) : write.apply(this, args)
  }
}

function onSuchDiskSync(write, operationsOf) {
  return function (...args) {
    const { operations, options } = operationsOf(...args)
    note(operations, options)
    if (writes === LAST_WRITE) process.kill(process.pid, 'SIGKILL')
    return write.apply(this, args)
  }
}

function chainedOnSuchDisk(chained) {
  const operations = []
  const { put, write } = chained
  chained.put = (key, ...others) => {
    operations.push({ key })
    return put.call(chained, key, ...others)
  }
  chained.write = onSuchDisk(write, (options) => ({ operations, options }))
  return chained
}

function note(operations, options) {
  writes++
  const keys = operations.map(({ key }) => key)
  appendFileSync(NOTES, `${JSON.stringify({ keys, sync: options?.sync === true })}\n`)
}

async function dieLater() {
  await sleep(LAST_WRITE_MS)
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
}

// Counts what the learner's choices lead to: writes and their sizes, the bytes of files, and how much a get brings into memory.

import { join } from 'node:path'
import { Level } from 'terrace'
import { observedDatabase, outcome } from '../../support/observed-database.mjs'

/** Enough that all that was read stays in memory, where it can be counted, whatever options the learner chose. */
const CACHE_BYTES = 64 << 20

/** How many entries are read, all over the database. */
const GETS = 12

/**
 * @param {(db: object, readings: Array<[string, string]>) => unknown} save
 * @param {{ readings: Array<[string, string]>, notes: Array<[string, string]> }} data - What is to be saved, and what the archive holds.
 * @returns How many entries each write had, whether all readings are there, and the numbers of the archive.
 */
export default async function harness(save, { readings, notes }, { directory, module }) {
  const db = await observedDatabase(directory)
  const { contents, writes } = await outcome(db, await save(db, readings))
  const archive = await measured(join(directory, 'archive'), notes, module.archive)
  const byDefault = await measured(join(directory, 'default'), notes, {})
  return {
    entriesOfWrites: writes.map(({ operations }) => operations.length),
    isComplete: contents.length === readings.length,
    archive: { ...archive, percent: Math.round((100 * archive.bytes) / byDefault.bytes) }
  }
}

/** Fills a database with these options, and counts the bytes of its tables, and the most that a get has brought into memory. */
async function measured(location, notes, options) {
  const db = new Level(location, { ...options, cacheSize: CACHE_BYTES })
  await db.batch(notes.map(([key, value]) => ({ type: 'put', key, value })))
  await db.compactRange('', '~')
  const bytes = db.stats().levels.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

  let bytesOfGet = 0
  for (let gets = 0; gets < GETS; gets++) {
    const before = db.stats().blockCacheBytes
    await db.get(notes[Math.floor((gets * notes.length) / GETS)][0])
    bytesOfGet = Math.max(bytesOfGet, db.stats().blockCacheBytes - before)
  }
  await db.close()
  return { bytes, bytesOfGet }
}

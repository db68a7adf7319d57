// Databases in folders of their own, closed and removed after the test.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'

const belongings = new WeakMap()

/** The folders and databases of a test, with the promise to clean them up. */
export function belongingsOf(t) {
  let found = belongings.get(t)

  if (found === undefined) {
    found = { databases: [], folders: [] }
    belongings.set(t, found)

    t.after(async () => {
      await Promise.all(found.databases.map((db) => db.close()))
      for (const folder of found.folders) rmSync(folder, { recursive: true, force: true })
    })
  }

  return found
}

/** A new empty folder. */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'terrace-test-'))
  belongingsOf(t).folders.push(folder)
  return folder
}

/** A database, not yet open, in `location` or a new folder. */
export function newLevel(t, options, location = temporaryFolder(t)) {
  const db = new Level(location, options)
  belongingsOf(t).databases.push(db)
  return db
}

/** An open database in `location` or a new folder. */
export async function openLevel(t, options, location) {
  const db = newLevel(t, options, location)
  await db.open()
  return db
}

/** Entries `key0000` to `key(count - 1)`, as operations of a batch. */
export function entries(count, value = 'value') {
  return Array.from({ length: count }, (_, i) => ({
    type: 'put',
    key: `key${String(i).padStart(4, '0')}`,
    value: `${value}${i}`
  }))
}

/** Lets other work have its turn for a while. */
export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

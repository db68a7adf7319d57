// Databases in separate directories, closed and removed after the test.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'

const belongings = new WeakMap()

/** The directories and databases of a test, which will be cleaned up. */
export function belongingsOf(t) {
  let found = belongings.get(t)

  if (found === undefined) {
    found = { databases: [], directories: [] }
    belongings.set(t, found)

    t.after(async () => {
      await Promise.all(found.databases.map((db) => db.close()))
      for (const directory of found.directories) remove(directory)
    })
  }

  return found
}

const left = []
process.on('exit', () => {
  for (const directory of left) {
    try {
      rmSync(directory, { recursive: true, force: true })
    } catch {
      // It is in the directory for temporary files.
    }
  }
})

/** On Windows, nothing that is open can be removed, and a test may close more databases later. */
function remove(directory) {
  if (process.platform !== 'win32') rmSync(directory, { recursive: true, force: true })
  else left.push(directory)
}

/** A new empty directory. */
export function temporaryDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-test-'))
  belongingsOf(t).directories.push(directory)
  return directory
}

/** A database, not yet open, in `location` or a new directory. */
export function newLevel(t, options, location = temporaryDirectory(t)) {
  const db = new Level(location, options)
  belongingsOf(t).databases.push(db)
  return db
}

/** An open database in `location` or a new directory. */
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

/** Gives other work a turn for a while. */
export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

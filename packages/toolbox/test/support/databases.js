// The databases on which every part of the toolbox is tested.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { isShort } from '../../../../tests/support/form.mjs'

/** A directory that is removed when the test `t` ends. */
export function directory(t) {
  const path = mkdtempSync(join(tmpdir(), 'terrace-toolbox-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Opens a database and closes it when the test ends. */
async function opened(t, db) {
  t.after(() => db.close())
  await db.open()
  return db
}

/** Like {@link opened}, in a directory. At the end of a test, first the database is closed, then its directory removed. */
function openedIn(t, Database, options) {
  const path = mkdtempSync(join(tmpdir(), 'terrace-toolbox-'))
  const db = opened(t, new Database(join(path, 'db'), options))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return db
}

/**
 * For each name, a function that makes an open database for the test `t`. The short form omits classic-level, which is the
 * slowest and has the same capabilities as memory-level.
 */
export const databases = {
  terrace: (t, options) => openedIn(t, Level, options),
  ...(!isShort && { 'classic-level': (t, options) => openedIn(t, ClassicLevel, options) }),
  'memory-level': (t, options) => opened(t, new MemoryLevel(options))
}

// Packages of back-ends run these tests over their databases as well.
const { TERRACE_TEST_DATABASE: other } = process.env
if (other !== undefined) {
  const { name, Database } = await import(other)
  databases[name] = (t, options) => openedIn(t, Database, options)
}

/** Whether hooks of the database see every write, and everything that was written before. */
export function isExact({ supports: { everyWrite, getSync, getSyncInHooks } }) {
  return everyWrite === true && (getSync === true || getSyncInHooks === true)
}

/** Whether the database can write within a call. */
export function writesAtOnce({ supports: { additionalMethods } }) {
  return additionalMethods.putSync === true
}

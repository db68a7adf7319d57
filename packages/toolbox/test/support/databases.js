// The databases that every part is tested on.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'

/** A folder that is removed when the test `t` ends. */
export function folder(t) {
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

/** By name: a function that makes an open database for the test `t`. */
export const databases = {
  terrace: (t, options) => opened(t, new Level(join(folder(t), 'db'), options)),
  'classic-level': (t, options) => opened(t, new ClassicLevel(join(folder(t), 'db'), options)),
  'memory-level': (t, options) => opened(t, new MemoryLevel(options))
}

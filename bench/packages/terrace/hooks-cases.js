// The cases that are measured: a put or a get, with hook functions, sublevels and listeners on its way.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'

const directory = () => mkdtempSync(join(tmpdir(), 'bench-hooks-'))

/** Makes a database of each kind. */
export const DATABASES = {
  terrace: () => new Level(directory()),
  'classic-level': () => new ClassicLevel(directory()),
  'memory-level': () => new MemoryLevel()
}

/**
 * What each case adds to a put to the root. `functions` are hook functions of the root, `functionsEach` those of every level;
 * `sublevels` is the depth of the put; `listeners` is the number of listeners of the root.
 */
export const CASES = {
  put: {},
  'put, 1 hook function': { functions: 1 },
  'put, 10 hook functions': { functions: 10 },
  'put, 100 hook functions': { functions: 100 },
  'put, a function that adds an operation': { adds: true },
  'put, a listener of `write`': { listeners: 1 },
  'put, 1 sublevel': { sublevels: 1 },
  'put, 2 sublevels': { sublevels: 2 },
  'put, 3 sublevels': { sublevels: 3 },
  'put, 5 sublevels': { sublevels: 5 },
  'put, 2 sublevels, a function in each and in the root': { sublevels: 2, functionsEach: 1 },
  get: { isGet: true },
  'get, 1 sublevel': { sublevels: 1, isGet: true },
  'get, 5 sublevels': { sublevels: 5, isGet: true }
}

/** Removes the files of a database. */
export async function remove(db) {
  await db.close()
  if (db.location !== undefined) rmSync(db.location, { recursive: true, force: true })
}

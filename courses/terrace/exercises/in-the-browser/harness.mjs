// Calls the function with two kinds of databases: one in memory, which can do everything, and one that can do what a database in a page can.

import { join } from 'node:path'
import { MemoryLevel } from 'terrace'
import { ObservedLevel } from '../../support/observed-database.mjs'

/** What Node has, and a page has not. */
const OF_NODE = ['Buffer', 'process', 'global', 'setImmediate']

/** Codes of the errors of calls that a database in a page cannot answer. */
const NOT_IN_A_PAGE = ['LEVEL_NOT_SUPPORTED', 'LEVEL_DATABASE_NOT_OPEN']

/**
 * @param {(db: object, bird: string) => unknown} note
 * @param {{ birds: string[], file: string }} data - The birds to note one after the other, and the address of the learner's module.
 * @returns For each kind of database what the last call returned and what is stored, or the code of the error; and what of Node was used.
 */
export default async function harness(note, { birds, file }, { directory }) {
  const globals = watchedGlobals(file)
  const memory = new MemoryLevel()
  await memory.open()
  // It is not open yet, and has no synchronous methods.
  const page = new ObservedLevel(join(directory, 'database'))
  return { inMemory: await noteAll(note, memory, birds), inPage: await noteAll(note, page, birds), globals }
}

async function noteAll(note, db, birds) {
  let returned
  try {
    for (const bird of birds) returned = await note(db, bird)
  } catch (error) {
    if (!NOT_IN_A_PAGE.includes(error.code)) throw error
    return { failure: error.code }
  }
  const contents = await db.iterator().all()
  await db.close()
  return { returned, contents }
}

/** The names of Node's globals that the module at `file` uses from now on. */
function watchedGlobals(file) {
  const used = new Set()
  for (const name of OF_NODE) {
    const value = globalThis[name]
    Object.defineProperty(globalThis, name, {
      get() {
        const [, , caller] = new Error().stack.split('\n')
        if (caller?.includes(file)) used.add(name)
        return value
      }
    })
  }
  return used
}

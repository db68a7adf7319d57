// Programs that open a database by themselves, for checks that ask what they did with it.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'terrace'
import { allow } from './judge.mjs'

const observer = new URL('./program-observer.mjs', import.meta.url)

/**
 * Runs a program whose first argument is a directory for its database.
 *
 * @param {import('terrace-workshop-runner').CheckContext} context
 * @param {string} file - The program.
 * @param {string[]} args - Its other arguments.
 * @returns The result of `run` with, besides, the `location` of the database, the names of the `calls` that the program made, and `isOpen`:
 * whether it ended with a database that it had not closed.
 */
export async function runObserved({ run, makeDirectory }, file, args) {
  const directory = makeDirectory()
  const location = join(directory, 'database')
  const notes = join(directory, 'notes.json')
  const env = { NODE_OPTIONS: `--import=${observer}`, TERRACE_WORKSHOP_NOTES: notes }
  const result = await run(file, { directory, allow, env, args: [location, ...args] })
  return { ...result, location, ...JSON.parse(readFileSync(notes, 'utf8')) }
}

/**
 * All entries of a database that nobody has open, as text.
 *
 * @param {string} location - Its directory.
 * @returns {Promise<Array<[key: string, value: string]> | undefined>} Nothing if there is no database.
 */
export async function contentsOf(location) {
  if (!existsSync(join(location, 'CURRENT'))) return undefined
  const db = new Level(location, { readOnly: true })
  try {
    return await db.iterator().all()
  } finally {
    await db.close()
  }
}

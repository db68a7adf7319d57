import { index } from 'terrace-toolbox/index'
import { isExact } from '../../support/databases.js'

/** The report of an index in step, with this many records and entries. */
export function inStep(records, entries = records) {
  return { records, entries, missing: 0, stale: 0, wrong: 0 }
}

/** The error with which a hook function refused a write. */
export async function refusalOf(write) {
  try {
    await write
  } catch (error) {
    if (error.code !== 'LEVEL_HOOK_ERROR') throw error
    return error.cause
  }
  throw new Error('The write was not refused')
}

/** Makes the put of a chained batch be refused: in the batch's `write()` if hooks see what is written, otherwise in `put()`. */
export async function refusalOfPut(batch, key, value) {
  if (isExact(batch.db)) {
    batch.put(key, value)
    return refusalOf(batch.write())
  }

  return refusalOf((async () => batch.put(key, value))())
}

/** A sublevel of users in JSON with an index, by default of e-mail addresses. */
export function usersOf(db, options = { name: 'email', on: 'email' }) {
  const users = db.sublevel('users', { valueEncoding: 'json' })
  return { db, users, indexed: index(users, options) }
}

/** Checks before a database is opened. */

import type { Binding, Native } from './binding.js'
import type { Calls } from './calls.js'
import { slateError } from './errors.js'
import { logOf } from './log.js'
import type { Settings } from './options.js'

/** The ID of no checkpoint. */
const NO_CHECKPOINT = '00000000-0000-0000-0000-000000000000'

/**
 * Checks that the store answers, and that the database exists or may be created. Nothing is written.
 *
 * @returns The number of files in the database's log.
 * @throws LEVEL_IO_ERROR, LEVEL_DATABASE_MISSING or LEVEL_DATABASE_EXISTS
 */
export async function prepare(
  binding: Binding,
  store: Native,
  calls: Calls,
  settings: Settings
): Promise<number> {
  const { location } = calls
  const { files } = await calls.within('open()', logOf(binding, store, undefined))
  const { createIfMissing, errorIfExists, readOnly } = settings
  if (!errorIfExists && createIfMissing && !readOnly) return files

  const exists = files > 0 || (await calls.within('open()', hasManifest(binding, store)))
  if (exists && errorIfExists) {
    throw slateError(
      'LEVEL_DATABASE_EXISTS',
      `Database exists already, and the option 'errorIfExists' is true: ${location}`,
      location
    )
  }
  if (!exists && (!createIfMissing || readOnly)) {
    throw slateError('LEVEL_DATABASE_MISSING', `Database does not exist: ${location}`, location)
  }
  return files
}

/**
 * Whether there is a manifest: the error for a nonexistent checkpoint names what is missing, the manifest or the
 * checkpoint.
 */
async function hasManifest(binding: Binding, store: Native): Promise<boolean> {
  const builder = new binding.DbReaderBuilder('', store)
  try {
    builder.with_checkpoint_id(NO_CHECKPOINT)
    const reader = await builder.build()
    await reader.shutdown()
    return true
  } catch (error) {
    return /checkpoint/i.test((error as Error).message)
  } finally {
    builder.dispose()
  }
}

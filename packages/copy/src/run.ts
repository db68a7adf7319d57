/** Runs the copy that the command line describes. */

import type { Redaction } from 'terrace-core'
import { type CopyOptions, type CopySummary, copy } from 'terrace-toolbox/copy'
import type { Place, Settings } from './command-line.js'
import { type Endpoint, endpointOf, isSame } from './endpoint.js'
import { readOptions } from './options-file.js'
import { megabytes, type ProgressDisplay } from './progress.js'
import { type Database, openDatabase } from './stores.js'

/** The result of a copy. */
export interface Outcome extends CopySummary {
  /** The names of both databases, without secrets. */
  readonly from: string
  readonly to: string
  readonly verified: boolean
  readonly elapsedMs: number
}

/** A database as the command line describes it, not yet open. */
interface Described {
  readonly endpoint: Endpoint
  readonly options: Readonly<Record<string, unknown>>
  readonly sublevel: readonly string[]
}

/**
 * Opens both databases, copies, and closes them.
 *
 * @throws UsageError if the command line, or a file that it names, is wrong.
 * @throws any error of the databases or of `copy()`.
 */
export async function run(
  settings: Settings,
  redaction: Redaction,
  display: ProgressDisplay,
  signal: AbortSignal
): Promise<Outcome> {
  const began = performance.now()
  // A mistake in the second should be reported before the first is opened.
  const [from, to] = (['from', 'to'] as const).map((role) => describe(settings[role], role, redaction)) as [
    Described,
    Described
  ]
  const databases = await openBoth(from, to, display)
  try {
    const [source, target] = databases
    const options = optionsOf(settings, display, signal)
    const summary = await copy(spaceOf(source, from), spaceOf(target, to), options)
    display.begin('closing')
    await target.close()
    const elapsedMs = Math.round(performance.now() - began)
    const names = { from: from.endpoint.shown, to: to.endpoint.shown }
    return { ...names, ...summary, verified: settings.verify, elapsedMs }
  } finally {
    for (const db of databases) await db.close()
  }
}

/** Reads what names a database, and its options. */
function describe(place: Place, role: 'from' | 'to', redaction: Redaction): Described {
  return {
    endpoint: endpointOf(place, role, process.env, redaction),
    options: readOptions(place.optionsFile, redaction),
    sublevel: place.sublevel
  }
}

/** Opens the source and the target. A database whose sublevels are both is opened once: some cannot be opened twice. */
async function openBoth(
  from: Described,
  to: Described,
  display: ProgressDisplay
): Promise<[Database, Database]> {
  if (isSame(from.endpoint, to.endpoint)) {
    display.begin(`opening ${to.endpoint.shown}`)
    const db = await openDatabase(to.endpoint, 'to', { createIfMissing: false, ...to.options })
    return [db, db]
  }

  display.begin(`opening ${from.endpoint.shown}`)
  const source = await openDatabase(from.endpoint, 'from', from.options)
  try {
    display.begin(`opening ${to.endpoint.shown}`)
    return [source, await openDatabase(to.endpoint, 'to', to.options)]
  } catch (error) {
    await source.close()
    throw error
  }
}

/** The database itself, or the sublevel that the command line names. */
function spaceOf(db: Database, { sublevel }: Described): Database {
  return sublevel.length > 0 ? (db.sublevel([...sublevel]) as unknown as Database) : db
}

function optionsOf(
  { existing, verify, batchSize, batchSizeBytes, range }: Settings,
  display: ProgressDisplay,
  signal: AbortSignal
): CopyOptions<Uint8Array> {
  return {
    existing,
    verify,
    batchSize,
    batchSizeBytes,
    range: { ...range, keyEncoding: 'view' },
    signal,
    onProgress: (progress) => display.update(progress)
  }
}

/** Returns a sentence about the outcome. */
export function sentenceOf(outcome: Outcome): string {
  const { entries, bytes, written, deleted, resumed, verified, from, to, elapsedMs } = outcome
  const notes = [
    resumed ? 'an earlier copy was completed' : '',
    written < entries ? `${written.toLocaleString('en-US')} had to be written` : '',
    deleted > 0 ? `${deleted.toLocaleString('en-US')} others were deleted` : '',
    verified ? 'verified' : 'not verified'
  ]
  const count = `${entries.toLocaleString('en-US')} ${entries === 1 ? 'entry' : 'entries'}`
  const seconds = (elapsedMs / 1000).toFixed(1)
  return `${count} (${megabytes(bytes)}) copied from ${from} to ${to} in ${seconds} s: ${notes.filter((note) => note !== '').join(', ')}`
}

/** Returns the outcome as a line of JSON. */
export function jsonOf({ checksum, ...outcome }: Outcome): string {
  return JSON.stringify({ ...outcome, checksum: checksum.toString(16).padStart(8, '0') })
}

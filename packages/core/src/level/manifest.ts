/** The manifest of a database, `db.supports`, built from what its back-end declares. */

import type { AbstractLevel } from 'abstract-level'
import type { Backend, BackendManifest } from '../backend.js'
import { canWait } from '../hooks/hook-reads.js'

type AbstractManifest = AbstractLevel<unknown>['supports']

/** The manifest of a database over a back-end, `db.supports`. */
export interface DatabaseManifest extends AbstractManifest {
  /** Whether the database has `getSync()`. */
  readonly getSync: boolean
  /**
   * Whether `hooks.prewrite.add()` honours the option `everyWrite`. A function with this option sees every write to its
   * keys, in the order in which the writes take effect, and operations that it adds are written right after the one that it
   * was called for. With `getSync()`, it reads exactly what was written before, whether or not that is stored yet; see
   * {@link getSyncInHooks}.
   */
  readonly everyWrite: boolean
  /**
   * Whether prewrite hook functions can call `getSync()`. They can in every database that has `getSync()`. In other
   * databases, the call stops the function, which is called again for the same operation once the value is known.
   */
  readonly getSyncInHooks: boolean
  /** Whether writes honour the option `if`. In other databases, they fail with LEVEL_NOT_SUPPORTED if it is given. */
  readonly conditionalWrites: boolean
  /** Whether entries have versions, which `getEntry()` returns and conditions may name. */
  readonly versions: boolean
}

/**
 * Checks that a back-end has the methods that it declares.
 *
 * @throws TypeError
 */
export function checkBackend(backend: Backend): void {
  const { syncReads, syncWrites, conditionalWrites, versions } = backend.manifest
  if (syncReads && backend.getSync === undefined) throw missing('syncReads', 'getSync')
  if (syncWrites && backend.writeSync === undefined) throw missing('syncWrites', 'writeSync')
  if (conditionalWrites && backend.writeIf === undefined) throw missing('conditionalWrites', 'writeIf')
  if (conditionalWrites && syncWrites && backend.writeIfSync === undefined) {
    throw missing('conditionalWrites', 'writeIfSync')
  }
  if (versions && backend.getEntry === undefined) throw missing('versions', 'getEntry')
}

function missing(declared: string, method: string): TypeError {
  return new TypeError(
    `The back-end declares '${declared}' in its manifest, so it must have the method ${method}()`
  )
}

/** Builds the manifest of a database whose class has these additional methods. */
export function databaseManifest(
  backend: BackendManifest,
  additionalMethods: Record<string, boolean>
): object {
  return {
    encodings: backend.encodings,
    has: true,
    getSync: backend.syncReads === true,
    permanence: backend.permanence !== false,
    createIfMissing: backend.createIfMissing === true,
    errorIfExists: backend.errorIfExists === true,
    explicitSnapshots: true,
    additionalMethods: { ...additionalMethods, ...ownMethods(backend) },
    signals: { iterators: true },
    everyWrite: backend.shared !== true,
    getSyncInHooks: backend.syncReads === true || canWait(backend),
    conditionalWrites: backend.conditionalWrites === true,
    versions: backend.versions === true
  }
}

/** The methods beyond abstract-level's that a database and its sublevels have. */
export function ownMethods(backend: BackendManifest): Record<string, boolean> {
  return {
    ...(backend.syncWrites && { putSync: true, delSync: true, batchSync: true }),
    ...(backend.syncReads && { iterateSync: true }),
    ...(backend.conditionalWrites && { update: true }),
    ...(backend.versions && { getEntry: true })
  }
}

/** What a back-end in a browser has besides the methods of every back-end. */

import { type Backend, type Bytes, type CodedError, codedError } from 'terrace-core'
import type { Storage } from './level-options.js'
import type { ExportOptions } from './transfer-options.js'

/** What a database of tables can do. */
export interface Maintained {
  /** As {@link Level.approximateSize}. */
  approximateSize(start: Bytes, end: Bytes): number | Promise<number>
  /** As {@link Level.compactRange}. */
  compactRange(start: Bytes, end: Bytes): Promise<void>
  /** As {@link Level.export}. */
  export(options: ExportOptions): AsyncGenerator<File, void, void>
}

/** A back-end of `Level`. */
export interface BrowserBackend extends Backend, Partial<Maintained> {
  /** As {@link Backend.writeIf}, which every back-end here has. */
  writeIf: NonNullable<Backend['writeIf']>
  /** Where the entries are kept; undefined until that is known. */
  readonly storage: Storage | undefined
  /** For a shared database, whether this back-end owns it. */
  readonly isOwner?: boolean
  /**
   * Distinguishes the database from a later one at the same location; undefined where that cannot be known.
   */
  readonly identity?: string | undefined
  /** Called when the browser has removed the database, after which all calls fail. */
  onLost?: (error: Error) => void
  /** Writes a batch that is already in LevelDB's format, like {@link Backend.write}. */
  writeBatch?(batch: Uint8Array, sync: boolean): void | Promise<void>
}

/** The error for a method that a place does not support. */
function notSupported(method: keyof Maintained, storage: Storage | undefined): CodedError {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    `A database in '${storage}' has no ${method}(): only one on 'opfs' has`
  )
}

/** @throws LEVEL_NOT_SUPPORTED if the back-end has no such method. */
export function maintained(backend: BrowserBackend, method: keyof Maintained): Maintained {
  if (backend[method] !== undefined) return backend as Maintained
  throw notSupported(method, backend.storage)
}

/** What a place has whose entries have versions. */
type Versioned = BrowserBackend & Required<Pick<Backend, 'getEntry'>>

/**
 * Tabs that share a database may name different places, so a tab may learn only from the worker that there are no versions.
 *
 * @throws LEVEL_NOT_SUPPORTED if the entries of the back-end have no versions.
 */
export function versioned(backend: BrowserBackend): Versioned {
  if (backend.manifest.versions === true) return backend as Versioned
  throw codedError(
    'LEVEL_NOT_SUPPORTED',
    `Entries of a database in '${backend.storage}' have no versions: only those on 'opfs' have`
  )
}

import { AbstractSnapshot } from 'abstract-level'
import type { NativeDatabase, NativeSnapshot } from './binding.js'
import { codedError } from './errors.js'
import { binding } from './load-binding.js'

/** A state of the database to read from later. Made by {@link Level.snapshot}. */
export class Snapshot extends AbstractSnapshot {
  #native: NativeSnapshot | null

  /** @internal */
  constructor(database: NativeDatabase, options: object) {
    // Made first: what abstract-level has attached to the database must be closable.
    const native = binding.snapshot(database)

    // The types of abstract-level lack this argument.
    super(...([options] as unknown as []))
    this.#native = native
  }

  /** @internal */
  get native(): NativeSnapshot {
    if (this.#native === null) {
      throw codedError('LEVEL_SNAPSHOT_NOT_OPEN', 'Snapshot is not open: cannot use snapshot after close()')
    }

    return this.#native
  }

  /** @internal */
  async _close(): Promise<void> {
    binding.snapshotClose(this.native)
    this.#native = null
  }
}

/** The native object of the `snapshot` option, if it is set. @internal */
export function nativeSnapshot(snapshot: unknown): NativeSnapshot | undefined {
  if (snapshot === undefined || snapshot === null) return undefined
  if (snapshot instanceof Snapshot) return snapshot.native
  throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'snapshot' must be a snapshot of this database")
}

import { AbstractSnapshot } from 'abstract-level'
import type { BackendSnapshot } from '../backend.js'
import { codedError } from '../errors.js'

/** A state of the database to read from later. It is created by {@link BackendLevel.snapshot}. */
export class Snapshot extends AbstractSnapshot {
  #handle: BackendSnapshot | null

  /** @internal */
  constructor(handle: BackendSnapshot, options: object) {
    // The types of abstract-level lack this argument.
    super(...([options] as unknown as []))
    this.#handle = handle
  }

  /** @internal */
  get handle(): BackendSnapshot {
    if (this.#handle === null) {
      throw codedError('LEVEL_SNAPSHOT_NOT_OPEN', 'Snapshot is not open: cannot use snapshot after close()')
    }

    return this.#handle
  }

  /** @internal */
  async _close(): Promise<void> {
    const { handle } = this
    this.#handle = null
    return handle.close()
  }
}

/**
 * The back-end's snapshot behind the option `snapshot`, if that is set.
 *
 * @internal
 */
export function backendSnapshot(snapshot: unknown): BackendSnapshot | undefined {
  if (snapshot === undefined || snapshot === null) return undefined
  if (snapshot instanceof Snapshot) return snapshot.handle
  throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'snapshot' must be a snapshot of this database")
}

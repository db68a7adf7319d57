import { type ByteString, fromByteString } from '../encoded.js'
import { type Conflict, Coordinator, type Reading } from './coordinator.js'
import { batchOf } from './own-batch.js'
import type { OwnWrites } from './own-writes.js'
import type { ReadSet } from './read-set.js'

/** A condition of a batch: nothing in the range has changed. Bounds are keys of the root. */
interface Condition {
  readonly sublevel: unknown
  readonly keyEncoding: 'buffer'
  readonly unchangedSince: object
  readonly gte: Uint8Array
  readonly lt?: Uint8Array
  readonly lte?: Uint8Array
}

/** Codes of errors which say that the snapshot is gone and that nothing was written. */
const STATE_LOST = ['LEVEL_SNAPSHOT_NOT_OPEN', 'NET_SESSION_LOST']

/**
 * Commits on a database that others may write to unseen. The batch has conditions: what was read has not changed since the
 * snapshot.
 */
export class ConditionalCommits extends Coordinator {
  begin(reads: ReadSet): Reading {
    return { moment: undefined, snapshot: this.root.snapshot(), reads }
  }

  end(): void {}

  conflictOf(): undefined {}

  async commit(
    reading: Reading | undefined,
    writes: OwnWrites,
    sync: boolean
  ): Promise<Conflict | undefined> {
    if (writes.size === 0) return undefined
    const { target, operations } = batchOf(writes, this.root)
    const keys = reading?.reads.keys() ?? []
    const options = { sync, if: reading === undefined ? undefined : this.#conditions(reading, keys) }
    try {
      await target.batch(operations as never, options as object)
      return undefined
    } catch (error) {
      const { code, conditions } = error as { code?: string; conditions?: number[] }
      if (code === 'LEVEL_CONFLICT') return { key: keys[conditions?.[0] ?? keys.length], settled: undefined }
      if (STATE_LOST.includes(code ?? '')) return { key: undefined, settled: undefined }
      throw error
    }
  }

  /** One for each of the keys, in their order, and then one for each range that was read. */
  #conditions({ reads, snapshot }: Reading, keys: readonly ByteString[]): Condition[] {
    const common = {
      sublevel: this.root,
      keyEncoding: 'buffer' as const,
      unchangedSince: snapshot as object
    }
    return [
      ...keys.map((key) => ({ ...common, gte: fromByteString(key), lte: fromByteString(key) })),
      ...reads.ranges().map(({ from, to }) => ({
        ...common,
        gte: fromByteString(from),
        ...(to === undefined ? {} : { lt: fromByteString(to) })
      }))
    ]
  }
}

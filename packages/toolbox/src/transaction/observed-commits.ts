import type { Buffer } from '../buffer.js'
import { type ByteString, fromByteString } from '../encoded.js'
import { isExact } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { type Conflict, Coordinator, type Reading } from './coordinator.js'
import { conflictError } from './errors.js'
import { batchOf } from './own-batch.js'
import type { OwnWrites } from './own-writes.js'
import type { ReadSet } from './read-set.js'
import type { SeenWrite } from './seen-write.js'
import { type Moment, OWN, type OwnBatch, type OwnOperation, WriteObserver } from './write-observer.js'

/** Commits on a database whose writes all pass its hooks. What others have written since a read is known from them. */
export class ObservedCommits extends Coordinator {
  readonly observer: WriteObserver
  #lastCommit: Promise<void> = Promise.resolve()

  constructor(root: AnyLevel) {
    super(root)
    this.observer = new WriteObserver(root)
  }

  begin(reads: ReadSet): Reading {
    const snapshot = this.root.supports.explicitSnapshots ? this.root.snapshot() : undefined
    return { moment: this.observer.now(), snapshot, reads }
  }

  end({ moment }: Reading): void {
    this.observer.release(moment as Moment)
  }

  async commit(
    reading: Reading | undefined,
    writes: OwnWrites,
    sync: boolean
  ): Promise<Conflict | undefined> {
    if (writes.size === 0) {
      // A transaction that has read one state, and writes nothing, took place in that state.
      return reading === undefined || reading.snapshot !== undefined ? undefined : this.conflictOf(reading)
    }

    const own = new Commit(this, reading, writes)
    await this.#inOrder(() => own.write(sync))
    return own.conflict
  }

  /**
   * Finds a write of others that changed what was read, preferably one that is done. Called within the hook, at the moment that
   * decides the order; `own` is the batch that is about to be written.
   */
  conflictOf({ moment, snapshot, reads }: Reading, own?: object): Conflict | undefined {
    const writes = this.observer.since(moment as Moment)
    if (writes === undefined) return { key: undefined, settled: undefined }

    const read = reads.now()
    const same = new Set<ByteString>()
    let conflict: Conflict | undefined

    for (const write of writes) {
      if (own !== undefined && write.batch === own) continue
      if (write.range !== undefined && read.overlaps(write.range)) return conflictWith(write, undefined)

      const key = write.key(this.root)
      if (key === undefined || same.has(key) || !read.hasKey(key)) continue

      if (this.#isAsRead(key, snapshot)) {
        same.add(key)
      } else {
        conflict = conflictWith(write, key)
        if (conflict.settled === undefined) return conflict
      }
    }

    return conflict
  }

  /**
   * Calls the function, which commits. Commits run one at a time if writes do not take effect in the order of their hooks, or
   * if other hooks add writes that this one does not see.
   */
  async #inOrder<T>(commit: () => Promise<T>): Promise<T> {
    if (isExact(this.root) && isOnlyHook(this.root, this.observer.hook)) return commit()

    const before = this.#lastCommit
    let done = (): void => {}
    this.#lastCommit = new Promise((resolve) => {
      done = resolve
    })

    try {
      await before
      return await commit()
    } finally {
      done()
    }
  }

  /** Whether a written key has the value that was read. A write may have failed, or have changed nothing. */
  #isAsRead(key: ByteString, snapshot: object | undefined): boolean {
    if (!isExact(this.root) || snapshot === undefined) return false
    const bytes = fromByteString(key)
    const options = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
    const now = this.root.getSync(bytes, options) as Buffer | undefined
    const then = this.root.getSync(bytes, { ...options, snapshot: snapshot as never }) as Buffer | undefined
    return now === undefined || then === undefined ? now === then : now.equals(then)
  }
}

/** The batch of an attempt. The hook refuses it if others have changed what the attempt has read. */
class Commit implements OwnBatch {
  readonly seen: SeenWrite[] = []
  conflict: Conflict | undefined
  readonly #coordinator: ObservedCommits
  readonly #reading: Reading | undefined
  readonly #writes: OwnWrites

  constructor(coordinator: ObservedCommits, reading: Reading | undefined, writes: OwnWrites) {
    this.#coordinator = coordinator
    this.#reading = reading
    this.#writes = writes
  }

  check(): void {
    if (this.#reading !== undefined) this.conflict = this.#coordinator.conflictOf(this.#reading, this)
    if (this.conflict !== undefined) throw conflictError(1)
  }

  /** @throws the errors of `batch`, unless there is a conflict. */
  async write(sync: boolean): Promise<void> {
    try {
      await this.#batch(sync)
    } catch (error) {
      this.#coordinator.observer.failed(this)
      if (this.conflict === undefined) throw error
    }
  }

  #batch(sync: boolean): Promise<void> {
    const { target, operations } = batchOf(this.#writes, this.#coordinator.root)
    for (const [index, operation] of operations.entries()) {
      operation[OWN] = { batch: this, isFirst: index === 0 } satisfies OwnOperation
    }

    // Without options, abstract-level copies operations faster.
    return (
      sync ? target.batch(operations as never, { sync } as object) : target.batch(operations as never)
    ) as never
  }
}

function conflictWith(write: SeenWrite, key: ByteString | undefined): Conflict {
  return { key, settled: write.isSettled ? undefined : write.whenSettled() }
}

/** If it is the only function, abstract-level runs it itself. */
function isOnlyHook(root: AnyLevel, hook: unknown): boolean {
  return (root.hooks.prewrite as unknown as { run: unknown }).run === hook
}

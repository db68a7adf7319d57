import type { Buffer } from '../buffer.js'
import { type ByteString, fromByteString } from '../encoded.js'
import { isExact } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { AsyncLocalStorage } from '../platform.js'
import type { ReadSet } from './read-set.js'
import type { SeenWrite } from './seen-write.js'
import { Turns } from './turns.js'
import { type Moment, WriteObserver } from './write-observer.js'

/** Others have written what a transaction has read. */
export interface Conflict {
  /** The key; undefined if it is not known. */
  readonly key: ByteString | undefined
  /** Set if the write is still running. It resolves when the write is done, and never if the write fails. */
  readonly settled: Promise<void> | undefined
}

/** What a transaction has read, and when. */
export interface Reading {
  readonly moment: Moment
  readonly snapshot: object | undefined
  readonly reads: ReadSet
}

/** What all transactions of a database share. */
export class Coordinator {
  readonly root: AnyLevel
  readonly observer: WriteObserver
  readonly turns = new Turns()
  /** Holds an object while the function of a transaction runs. */
  readonly running = new AsyncLocalStorage<{ isOpen: boolean }>()
  #lastCommit: Promise<void> = Promise.resolve()

  constructor(root: AnyLevel) {
    this.root = root
    this.observer = new WriteObserver(root)
  }

  /**
   * Finds a write of others that changed what was read, preferably one that is done. Called within the hook, at the moment that
   * decides the order; `own` is the batch that is about to be written.
   */
  conflictOf({ moment, snapshot, reads }: Reading, own?: object): Conflict | undefined {
    const writes = this.observer.since(moment)
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
  async inOrder<T>(commit: () => Promise<T>): Promise<T> {
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

const coordinators = new WeakMap<AnyLevel, Coordinator>()

/** The coordinator of a root database. */
export function coordinatorOf(root: AnyLevel): Coordinator {
  let coordinator = coordinators.get(root)

  if (coordinator === undefined) {
    coordinator = new Coordinator(root)
    coordinators.set(root, coordinator)
  }

  return coordinator
}

function conflictWith(write: SeenWrite, key: ByteString | undefined): Conflict {
  return { key, settled: write.isSettled ? undefined : write.whenSettled() }
}

/** If it is the only function, abstract-level runs it itself. */
function isOnlyHook(root: AnyLevel, hook: unknown): boolean {
  return (root.hooks.prewrite as unknown as { run: unknown }).run === hook
}

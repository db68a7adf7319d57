import { AsyncLocalStorage } from 'node:async_hooks'
import { type ByteString, fromByteString } from '../encoded.js'
import { isExact } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import type { ReadSet } from './read-set.js'
import type { SeenWrite } from './seen-write.js'
import { Turns } from './turns.js'
import { type Moment, WriteObserver } from './write-observer.js'

/** What a transaction has read was written by others. */
export interface Conflict {
  /** The key; undefined where it is not known. */
  readonly key: ByteString | undefined
  /** If the write is still on its way: resolves when it is done, never if it has failed. */
  readonly settled: Promise<void> | undefined
}

/** What a transaction has read, and when. */
export interface Reading {
  readonly moment: Moment
  readonly snapshot: object | undefined
  readonly reads: ReadSet
}

/** What all transactions of a database have in common. */
export class Coordinator {
  readonly root: AnyLevel
  readonly observer: WriteObserver
  readonly turns = new Turns()
  /** Holds an object for as long as the function of a transaction runs. */
  readonly running = new AsyncLocalStorage<{ isOpen: boolean }>()
  #lastCommit: Promise<void> = Promise.resolve()

  constructor(root: AnyLevel) {
    this.root = root
    this.observer = new WriteObserver(root)
  }

  /**
   * A write of others that changed what was read; one that is done, if there is such. Called within the hook, at the moment
   * that decides the order; `own` is the batch that is about to be written.
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
   * Calls the function, which commits. Where the order in which writes take effect is not that of their hooks, or where
   * other hooks add writes that this one does not see, only one commit is on its way at a time.
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

/** The coordinator of a database that is no sublevel. */
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

/** With one function, that is what abstract-level runs. */
function isOnlyHook(root: AnyLevel, hook: unknown): boolean {
  return (root.hooks.prewrite as unknown as { run: unknown }).run === hook
}

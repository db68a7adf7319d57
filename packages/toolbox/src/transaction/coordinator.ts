import type { ByteString } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import { AsyncLocalStorage } from '../platform.js'
import type { OwnWrites } from './own-writes.js'
import type { ReadSet } from './read-set.js'
import { Turns } from './turns.js'
import type { Moment } from './write-observer.js'

/** Others have written what a transaction has read. */
export interface Conflict {
  /** The key; undefined if it is not known. */
  readonly key: ByteString | undefined
  /** Set if the write is still running. It resolves when the write is done, and never if the write fails. */
  readonly settled: Promise<void> | undefined
}

/** What a transaction has read, and when. */
export interface Reading {
  /** The moment in the order of observed writes; undefined if writes are not observed. */
  readonly moment: Moment | undefined
  readonly snapshot: object | undefined
  readonly reads: ReadSet
}

/** What all transactions of a database share, and how they are committed. */
export abstract class Coordinator {
  readonly root: AnyLevel
  readonly turns = new Turns()
  /** Holds an object while the function of a transaction runs. */
  readonly running = new AsyncLocalStorage<{ isOpen: boolean }>()

  constructor(root: AnyLevel) {
    this.root = root
  }

  /** Begins to read the state of now. */
  abstract begin(reads: ReadSet): Reading

  /** Called when an attempt is over. */
  abstract end(reading: Reading): void

  /** Finds a write of others that changed what was read, as far as that is known before the commit. */
  abstract conflictOf(reading: Reading): Conflict | undefined

  /**
   * Commits the writes of an attempt as one batch. If others have changed what it read, writes nothing and returns the conflict.
   *
   * @param reading - Undefined if the attempt has read nothing.
   * @throws the errors of `batch`.
   */
  abstract commit(
    reading: Reading | undefined,
    writes: OwnWrites,
    sync: boolean
  ): Promise<Conflict | undefined>
}

/**
 * The messages between a tab and the worker that owns its database: calls and answers.
 *
 * The calls that a tab makes in one turn are one message, and so are the answers that are ready at once. Keys and values lie one
 * after another in one array of bytes, in the order of the calls or of the answers; numbers give their lengths. The tab assigns
 * numbers to snapshots, cursors and exports. Nothing is negotiated: a tab does not talk to a worker with another version of this
 * protocol, which occurs if the site was updated in between.
 */

import type { Storage } from '../../level-options.js'
import type { Failure } from './failure.js'

/** The version of the protocol. Raise it with each change. */
export const VERSION = 3

/** The kinds of calls. The words that follow are in brackets. */
export const Call = {
  /** `[snapshot, key length]` → `[value length]`, {@link NONE} if there is no value. */
  get: 1,
  /** `[snapshot, ...key lengths]` → `[...value lengths]`. */
  getMany: 2,
  /** `[snapshot, key length]` → `[0 or 1]`. */
  has: 3,
  /** `[snapshot, ...key lengths]` → `[...0 or 1]`. */
  hasMany: 4,
  /** `[sync, batch length]` → `[]`. The batch is LevelDB's (docs/format/batch.md). */
  write: 5,
  /** `[snapshot, flags, lower length, upper length, limit]` → `[]`. */
  clear: 6,
  /** `[cursor, snapshot, flags, lower length, upper length]`, not answered. */
  cursor: 7,
  /** `[cursor, entries, high water mark in bytes]` → `[0 or 1: the last page, length of the last key, ...lengths]`. */
  read: 8,
  /** `[cursor, target length]`, not answered. */
  seek: 9,
  /** `[cursor]`, not answered. */
  closeCursor: 10,
  /** `[snapshot]`, not answered. */
  snapshot: 11,
  /** `[snapshot]`, not answered. */
  closeSnapshot: 12,
  /** `[start length, end length]` → `[bytes]`. */
  approximateSize: 13,
  /** `[start length, end length]` → `[]`. */
  compactRange: 14,
  /** `[export]`, not answered. */
  export: 15,
  /** `[export]` → `[name length, files, bytes, all bytes]` and name and contents of a file; `[]` at the end. */
  nextFile: 16,
  /** `[export]`, not answered. */
  closeExport: 17,
  /** `[sync, batch length, ...conditions]` → `[]`. The words of a condition are in `condition-words.ts`. */
  writeIf: 18,
  /** `[snapshot, key length]` → `[value length, version]`, {@link NONE} if there is no value. */
  getEntry: 19
} as const

/** The length of a missing value. */
export const NONE = -1

/** Stands for the current state in place of a snapshot's number. */
export const CURRENT_STATE = 0

/** The number of a call that is not answered. */
export const UNANSWERED = 0

/** A call: its kind, its number, where its bytes begin, its words. */
export type WireCall = readonly [kind: number, number: number, at: number, ...words: number[]]

/** What a tab sends. */
export type CallMessage = readonly [calls: readonly WireCall[], bytes: Uint8Array]

/** The words of an answer and the parts of its bytes. */
export interface Answer {
  readonly words: readonly number[]
  readonly parts: readonly Uint8Array[]
}

/** An answer as it is sent: the number of the call, the number of its bytes, its words. */
export type WireAnswer = readonly [number: number, lengthBytes: number, ...words: number[]]

/** The first message of a worker. */
export interface Greeting {
  /** A {@link VERSION}. */
  readonly version: number
  /** Where the entries are kept. */
  readonly storage: Storage
  /** Distinguishes the database from a later one at the same location; undefined where that cannot be known. */
  readonly identity: string | undefined
}

/** What a worker sends. */
export interface AnswerMessage {
  readonly answers: readonly WireAnswer[]
  readonly bytes: Uint8Array
  /** The numbers of the calls that have failed, with the errors. */
  readonly failures: ReadonlyArray<readonly [number: number, failure: Failure]>
  /** Only in its first message. */
  readonly greeting?: Greeting
  /**
   * Only in its last message, when the database is being closed: how many messages the worker has processed. It processes no more.
   */
  readonly processed?: number
}

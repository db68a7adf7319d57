/**
 * Calls to a database on the other side of a connection, and what becomes of each when a message, a connection or the other side is
 * lost. This is the only place that decides about a write whose answer was lost.
 *
 * ```text
 *   called ──▶ waits ──── sent ────▶ sent ──── answered ──▶ settled
 *               ▲ ▲                   │ │
 *               │ └─ connection lost ─┘ └─ the other side lost ──┬──▶ a write that may have begun: fails, its fate is unknown
 *               │    the other side                             ├──▶ about a cursor or snapshot there: fails, that is lost
 *               │    repeats nothing                            │
 *               └──────────────────── it reads, or has not begun ┘
 * ```
 */

import type { Handles } from './handles.js'

/** What happens to a call if the other side is lost. */
export type Fate =
  /** The call reads, or may be repeated: it is sent to another side. */
  | 'repeat'
  /** The call writes: it fails, unless it has certainly not begun. */
  | 'once'
  /** The call reads from a cursor or snapshot of that side: it fails. */
  | 'with state'
  /**
   * The call writes what it reads from a snapshot: it fails like `'once'` if it may have begun, otherwise like `'with state'`.
   */
  | 'once with state'

/** A call without an answer yet. */
export interface PendingCall {
  readonly fate: Fate
  /** Whether the other side may have begun the call. Set by the sender. */
  mayHaveBegun: boolean
  /** Turns an answer into the result. */
  read(answer: never): unknown
  resolve(result: never): void
  reject(error: unknown): void
}

/** Makes the errors of calls that were lost. */
export interface LossErrors {
  /** Returns the error of a write that may or may not be stored. */
  writeUnknown(): Error
  /** Returns the error of a read whose cursor or snapshot is gone. */
  stateLost(): unknown
}

/** A caller that waits for answers. */
interface Waiter {
  readonly left: Set<number>
  resolve(): void
}

/** The calls that the other side has not answered yet. It decides what happens to each when the other side is lost. */
export class PendingCalls<Call extends PendingCall> {
  /** By number, in order. */
  readonly #calls = new Map<number, Call>()
  readonly #handles: Handles
  readonly #errors: LossErrors
  readonly #waiters = new Set<Waiter>()
  #lastNumber = 0

  /** @param handles - The cursors and snapshots that the other side holds, which are lost with it. */
  constructor(handles: Handles, errors: LossErrors) {
    this.#handles = handles
    this.#errors = errors
  }

  get size(): number {
    return this.#calls.size
  }

  /** Whether one of them is a write. */
  get hasWrites(): boolean {
    for (const call of this.#calls.values()) if (isWrite(call)) return true
    return false
  }

  /** The lowest number of a pending call; the number of the next call if none is pending. */
  get oldest(): number {
    const [oldest = this.#lastNumber + 1] = this.#calls.keys()
    return oldest
  }

  /** Returns a number for the next call, higher than all earlier ones. */
  nextNumber(): number {
    return ++this.#lastNumber
  }

  /** Returns the calls, in order. */
  all(): Iterable<Call> {
    return this.#calls.values()
  }

  add(number: number, call: Call): void {
    this.#calls.set(number, call)
  }

  get(number: number): Call | undefined {
    return this.#calls.get(number)
  }

  /** Settles a call with its answer. Returns the call, or undefined if it was settled before. */
  answer(number: number, answer: unknown): Call | undefined {
    const call = this.#take(number)
    if (call === undefined) return undefined
    try {
      call.resolve(call.read(answer as never) as never)
    } catch (error) {
      call.reject(error)
    }
    return call
  }

  /** Rejects a call. Returns the call, or undefined if it was settled before. */
  reject(number: number, error: unknown): Call | undefined {
    const call = this.#take(number)
    call?.reject(error)
    return call
  }

  #take(number: number): Call | undefined {
    const call = this.#calls.get(number)
    if (call === undefined) return undefined
    this.#calls.delete(number)
    for (const waiter of this.#waiters) this.#answered(waiter, number)
    return call
  }

  /** Resolves once all current calls are answered, except those that only read from cursors and snapshots. */
  async answered(): Promise<void> {
    const wanted = [...this.#calls].filter(([, { fate }]) => fate !== 'with state')
    if (wanted.length === 0) return
    await new Promise<void>((resolve) => {
      this.#waiters.add({ left: new Set(wanted.map(([number]) => number)), resolve })
    })
  }

  #answered(waiter: Waiter, number: number): void {
    waiter.left.delete(number)
    if (waiter.left.size > 0) return
    this.#waiters.delete(waiter)
    waiter.resolve()
  }

  /** Handles the loss of the other side. Calls that another side cannot serve fail; the rest wait to be sent. */
  lose(): void {
    this.#handles.forgetAll()
    for (const [number, call] of [...this.#calls]) {
      const isUnknown = isWrite(call) && call.mayHaveBegun
      if (!isUnknown && (call.fate === 'repeat' || call.fate === 'once')) {
        call.mayHaveBegun = false
        continue
      }
      this.reject(number, isUnknown ? this.#errors.writeUnknown() : this.#errors.stateLost())
    }
  }

  /**
   * Rejects all calls.
   *
   * @param ofBegun - The error of a write that the other side may have begun.
   */
  fail(error: unknown, ofBegun: unknown = error): void {
    for (const [number, call] of [...this.#calls]) {
      this.reject(number, isWrite(call) && call.mayHaveBegun ? ofBegun : error)
    }
  }
}

function isWrite({ fate }: PendingCall): boolean {
  return fate === 'once' || fate === 'once with state'
}

/**
 * Reads of hook functions from a store that cannot read within a call. A function that reads something not known yet is stopped.
 * Once that has been read, the function is called again for the same operation, as if it had never been called. While functions
 * run, nothing else is written, so what was read stays true until their writes begin.
 */

import type { Backend, BackendManifest, Bytes } from '../backend.js'
import { codedError } from '../errors.js'
import { backendSnapshot, type Snapshot } from '../read/snapshot.js'
import { identityOf, inFormat } from '../write/operation-list.js'

/** A run of hook functions. It yields whenever one of them has to wait. */
export type Steps = Generator<void, void>

/** Reads something within the call, and throws if that is not known yet. */
export type Ask = () => void

/** Runs hook functions within the write queue. */
type Run = (work: () => void) => void

/** What has been read of a key. */
type Found = { readonly value: Bytes | undefined } | { readonly error: unknown }

/** The most keys that are read at once. */
const MAX_KEYS = 1000

/** The most rounds of reading ahead. What functions still lack after them is read when needed. */
const MAX_ROUNDS = 8

/** Whether functions over a back-end that cannot read within a call can wait. A blocking write could not wait for them. */
export function canWait({ syncReads, syncWrites, shared }: BackendManifest): boolean {
  return syncReads !== true && syncWrites !== true && shared !== true
}

export class HookReads {
  readonly #backend: Backend
  readonly #format: string
  /** What is known of the current state, by identity. */
  readonly #known = new Map<string, Found>()
  /** The same for snapshots. */
  readonly #knownOf = new Map<Snapshot, Map<string, Found>>()
  /** The keys to read, by identity, from the current state (null) or from snapshots, which stay open until then. */
  readonly #wanted = new Map<Snapshot | null, Map<string, Bytes>>()
  #promises: Array<Promise<unknown>> = []
  /** The error of the last of these promises that was rejected. */
  #failure: { readonly error: unknown } | null = null
  #hasFailures = false
  /** Whether functions run now that can wait. */
  isActive = false
  /** Whether a function has read something unknown. It is set to false before a function is called. */
  isWaiting = false

  /** @param format - The format of keys and values in calls of the back-end: `buffer` or `view`. */
  constructor(backend: Backend, format: string) {
    this.#backend = backend
    this.#format = format
  }

  /** Forgets what is known. Call it before others may write. */
  forget(): void {
    this.#known.clear()
    this.#knownOf.clear()
  }

  /**
   * Returns the stored value of a key.
   *
   * @throws the error of a read that failed, and {@link stopped} if the key is not known yet.
   */
  get(key: Bytes, options: { valueEncoding?: string; snapshot?: unknown }): Bytes | undefined {
    const snapshot = (options.snapshot ?? null) as Snapshot | null
    const identity = identityOf(key)
    const found = this.#knownIn(snapshot).get(identity)
    if (found === undefined) return this.#want(key, identity, snapshot)
    if ('error' in found) throw found.error
    return found.value === undefined ? undefined : inFormat(found.value, options.valueEncoding)
  }

  /** Stops the function that runs, until a promise has settled. */
  waitFor(promise: Promise<unknown>): never {
    promise.catch(() => {})
    if (this.#failure !== null) throw this.#failure.error
    this.#promises.push(promise)
    return this.#stop()
  }

  /** Reads ahead and runs functions while nothing else is written, as the only work in this turn of the queue. */
  async runAlone(asks: readonly Ask[], run: Run, steps: Steps): Promise<void> {
    this.forget()
    try {
      await this.ahead(asks)
      await this.run(run, steps)
    } finally {
      this.forget()
    }
  }

  /** Runs functions to their end, within the call if none has to wait. */
  run(run: Run, steps: Steps): void | Promise<void> {
    if (!this.#step(run, steps)) return this.#runLater(run, steps)
  }

  async #runLater(run: Run, steps: Steps): Promise<void> {
    try {
      do await this.#read()
      while (!this.#step(run, steps))
    } finally {
      this.#forgetFailures()
    }
  }

  /** Runs functions until one has to wait. Returns whether all have ended. */
  #step(run: Run, steps: Steps): boolean {
    let isDone: boolean | undefined
    run(() => {
      this.#activate(() => {
        isDone = steps.next().done
      })
    })
    return isDone === true
  }

  /** Reads together what many operations need. Failures surface when functions need it. */
  ahead(asks: readonly Ask[]): void | Promise<void> {
    const left = this.#unanswered(asks)
    if (left.length > 0) return this.#answer(left)
  }

  async #answer(asks: readonly Ask[]): Promise<void> {
    let left = asks
    for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round++) {
      await this.#read()
      left = this.#unanswered(left)
    }
    if (left.length > 0) await this.#read()
    this.#forgetFailures()
  }

  #unanswered(asks: readonly Ask[]): Ask[] {
    return asks.filter((ask) => {
      this.isWaiting = false
      try {
        this.#activate(ask)
      } catch {
        // If it is an error of the function, the function will throw it again.
      }
      return this.isWaiting
    })
  }

  #activate(work: () => void): void {
    this.isActive = true
    try {
      work()
    } finally {
      this.isActive = false
    }
  }

  #want(key: Bytes, identity: string, snapshot: Snapshot | null): never {
    let wanted = this.#wanted.get(snapshot)
    if (wanted === undefined) {
      backendSnapshot(snapshot)
      snapshot?.ref()
      wanted = new Map()
      this.#wanted.set(snapshot, wanted)
    }
    wanted.set(identity, inFormat(key, this.#format))
    return this.#stop()
  }

  #stop(): never {
    this.isWaiting = true
    throw stopped
  }

  #knownIn(snapshot: Snapshot | null): Map<string, Found> {
    if (snapshot === null) return this.#known
    let known = this.#knownOf.get(snapshot)
    if (known === undefined) {
      known = new Map()
      this.#knownOf.set(snapshot, known)
    }
    return known
  }

  /** Reads what is wanted, and waits for what functions wait for. It never rejects. */
  async #read(): Promise<void> {
    const promises = this.#promises
    const wanted = [...this.#wanted]
    this.#promises = []
    this.#wanted.clear()

    const reading = wanted.map(([snapshot, keys]) => this.#readFrom(snapshot, [...keys]))
    for (const result of await Promise.allSettled(promises)) {
      if (result.status === 'rejected') this.#failure = { error: result.reason }
    }
    await Promise.all(reading)
  }

  async #readFrom(snapshot: Snapshot | null, keys: Array<[identity: string, key: Bytes]>): Promise<void> {
    const known = this.#knownIn(snapshot)
    try {
      for (let first = 0; first < keys.length; first += MAX_KEYS) {
        const part = keys.slice(first, first + MAX_KEYS)
        await this.#readPart(snapshot, part, known)
      }
    } finally {
      snapshot?.unref()
    }
  }

  async #readPart(
    snapshot: Snapshot | null,
    keys: Array<[identity: string, key: Bytes]>,
    known: Map<string, Found>
  ): Promise<void> {
    const options = { keyEncoding: this.#format, valueEncoding: this.#format }
    const wanted = keys.map(([, key]) => key)
    try {
      const values = await this.#backend.getMany(wanted, options, backendSnapshot(snapshot))
      for (const [index, [identity]] of keys.entries()) known.set(identity, { value: values[index] })
    } catch (error) {
      this.#hasFailures = true
      for (const [identity] of keys) known.set(identity, { error })
    }
  }

  /** What failed is tried again by the next function that needs it. */
  #forgetFailures(): void {
    this.#failure = null
    if (!this.#hasFailures) return
    this.#hasFailures = false
    for (const known of [this.#known, ...this.#knownOf.values()]) {
      for (const [identity, found] of known) if ('error' in found) known.delete(identity)
    }
  }
}

/** What stops a function. Whether the function catches it does not matter. */
const stopped = codedError(
  'LEVEL_NOT_SUPPORTED',
  'This hook function reads an entry that is still being fetched, and will be called again: do not catch this error'
)

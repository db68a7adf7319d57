/**
 * The order of an instance's writes. One transaction runs at a time, and what is called meanwhile shares the next one. A state that
 * is being taken, and a `clear`, have their places among the writes.
 */

import { deadlineError, isTooLarge } from './failures.js'
import type { Binary } from './literals.js'
import { now } from './time.js'

/** A write that waits. */
interface Write {
  readonly operations: ReadonlyArray<Binary | null>
  readonly bytes: number
  readonly end: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Something that later writes wait for. */
type Barrier = () => Promise<void>

/** Writes share a transaction up to this size, in bytes. */
const GROUP_BYTES = 1024 * 1024

/** Writes changes in one transaction until `end`. */
export type Commit = (changes: Map<Binary, Binary | null>, end: number) => Promise<void>

export class WriteQueue {
  readonly #commit: Commit
  #waiting: Array<Write | Barrier> = []
  #running: Promise<void> | undefined
  /** Why nothing is written any more. */
  #refusal: unknown

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /** Refuses what waits and what is called later. */
  refuse(error: unknown): void {
    this.#refusal = error
  }

  /** Why writes are refused, or undefined. */
  get refusal(): unknown {
    return this.#refusal
  }

  /** Adds a write: keys and values alternate. */
  write(operations: ReadonlyArray<Binary | null>, bytes: number, end: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add({ operations, bytes, end, resolve, reject })
    })
  }

  /** Runs work in its place: after all earlier writes, before all later ones. */
  alone(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add(async () => {
        await (this.#refusal === undefined ? work() : Promise.reject(this.#refusal)).then(resolve, reject)
      })
    })
  }

  /** Lets later writes wait for a promise, which must not reject. */
  holdUntil(promise: Promise<void>): void {
    this.#add(() => promise)
  }

  /** Settles when nothing waits and nothing runs. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  #add(item: Write | Barrier): void {
    this.#waiting.push(item)
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // Calls of this turn share a transaction.
    await undefined
    let at = 0
    while (at < this.#waiting.length) {
      const item = this.#waiting[at] as Write | Barrier
      if (typeof item === 'function') {
        at++
        await item()
      } else {
        const group = groupAt(this.#waiting, at)
        at += group.length
        await this.#writeGroup(group)
      }
      if (at > 1000 && at * 2 > this.#waiting.length) at = this.#drop(at)
    }
    this.#waiting = []
    this.#running = undefined
  }

  #drop(count: number): number {
    this.#waiting = this.#waiting.slice(count)
    return 0
  }

  /** Commits writes together, or in halves if the server finds them too large together. */
  async #writeGroup(group: readonly Write[]): Promise<void> {
    const started = now()
    const inTime = group.filter((write) => write.end > started)
    for (const write of group) if (write.end <= started) write.reject(deadlineError('The write'))
    if (inTime.length === 0) return
    if (this.#refusal !== undefined) {
      for (const { reject } of inTime) reject(this.#refusal)
      return
    }

    const changes = new Map<Binary, Binary | null>()
    for (const { operations } of inTime) {
      for (let i = 0; i < operations.length; i += 2) {
        changes.set(operations[i] as Binary, operations[i + 1] as Binary | null)
      }
    }
    try {
      await this.#commit(changes, (inTime.at(-1) as Write).end)
      for (const { resolve } of inTime) resolve()
    } catch (error) {
      if (inTime.length > 1 && isTooLarge(error)) {
        const half = inTime.length >> 1
        await this.#writeGroup(inTime.slice(0, half))
        await this.#writeGroup(inTime.slice(half))
        return
      }
      for (const { reject } of inTime) reject(error)
    }
  }
}

/** The writes that may share a transaction, from the one at an index. */
function groupAt(waiting: ReadonlyArray<Write | Barrier>, start: number): Write[] {
  const group: Write[] = []
  let bytes = 0
  for (let i = start; i < waiting.length; i++) {
    const item = waiting[i] as Write | Barrier
    if (typeof item === 'function' || (group.length > 0 && bytes + item.bytes > GROUP_BYTES)) break
    group.push(item)
    bytes += item.bytes
  }
  return group
}

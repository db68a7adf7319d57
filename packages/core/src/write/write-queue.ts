/**
 * The order of a database's writes, as far as hook functions need it. Hook functions run when all earlier writes are done, so
 * that they read what those wrote. Until then writes wait here. Then all of them are written as one batch, so that many writes
 * with `sync` share one sync.
 */

import { codedError } from '../errors.js'
import { yieldToEventLoop } from '../event-loop.js'
import { Fifo } from '../fifo.js'
import type { HookReads } from '../hooks/hook-reads.js'
import { inNextTurn } from '../next-turn.js'
import type { OperationList } from './operation-list.js'
import type { Overlay, WriteCall, Writer, Writes } from './write-call.js'
import { type WaitingCall, WriteGroup } from './write-group.js'

/** The most calls in one batch, so that no batch grows without bound. */
const MAX_GROUP_CALLS = 1024

/** Work that must run alone. */
export interface Task {
  /** Begins. It may do all its work within the call, and must if it is blocking. */
  start(isBlocking: boolean): void | Promise<void>
  /** Does the remaining work within the call. */
  finish(): void
  /** Whether its caller emits an event soon after it is done. Later calls then begin after that event. */
  readonly isAnnounced: boolean
}

interface WaitingTask {
  readonly task: Task
  resolve(result?: void | Promise<void>): void
  reject(error: unknown): void
}

type Waiting = WaitingCall | WaitingTask

export class WriteQueue {
  readonly #writer: Writer
  /** What hook functions read, if they may have to wait for it. */
  readonly #reads: HookReads | null
  readonly #waiting = new Fifo<Waiting>()
  /** How many writes of the back-end are still running. */
  #pending = 0
  /** Increases when a blocking call has waited for all of these; their promises settle later. */
  #generation = 0
  #task: Task | null = null
  /** How many of the first waiting calls must be written alone. */
  #callsAlone = 0
  /** The operations whose hook functions run now. */
  running: Overlay | null = null
  /** Whether a write would not have to wait for others here. */
  isFree = true

  constructor(writer: Writer, reads: HookReads | null) {
    this.#writer = writer
    this.#reads = reads
  }

  /** Tracks a running write of the back-end. */
  track(waiting: Promise<void>): void {
    const generation = this.#generation
    this.#pending++
    const settled = (): void => {
      if (generation === this.#generation && --this.#pending === 0) this.#advance()
    }
    waiting.then(settled, settled)
  }

  /** Whether any write that was called is still running. */
  get hasPending(): boolean {
    return this.#pending > 0 || this.#waiting.length > 0 || this.#task !== null
  }

  /** Whether hook functions can run now. */
  get isIdle(): boolean {
    return this.isFree && this.#pending === 0
  }

  /** Writes a call, at once if possible. */
  submit(call: WriteCall, hasHooks: boolean): Promise<void> {
    if (hasHooks && this.#reads !== null) return this.#submitInSteps(call)
    if (!(hasHooks ? this.isIdle : this.isFree)) {
      call.keep()
      return this.#enqueue({ call })
    }

    try {
      const writes = this.#take(call, null)
      const waiting = this.#writer.write(writes.list.flat, call.sync) ?? yieldToEventLoop(writes.length)
      return finished(writes, waiting)
    } finally {
      // A hook function may have called other writes.
      if (!this.isFree) this.#advance()
    }
  }

  /** Writes a call whose functions may have to wait for what they read. */
  #submitInSteps(call: WriteCall): Promise<void> {
    call.keep()
    const written = this.#enqueue({ call })
    this.#advance()
    return written
  }

  /** Writes a call, after all earlier ones, and has finished when it returns. */
  submitSync(call: WriteCall): void {
    this.#inTurn(call.method, () => {
      const writes = this.#take(call, null)
      this.#writer.writeSync(writes.list.flat, call.sync)
      writes.emit()
    })
  }

  /** Runs a task alone, after all earlier calls, and has finished when it returns. */
  performSync(method: string, task: Task): void {
    this.#inTurn(method, () => task.start(true))
  }

  #inTurn(method: string, work: () => void): void {
    if (this.running !== null) {
      throw codedError(
        'LEVEL_NOT_SUPPORTED',
        `A prewrite hook function cannot call ${method}(): add operations to its batch`
      )
    }

    try {
      this.#drain()
      work()
    } finally {
      // Whatever failed, the others continue.
      if (!this.isFree) this.#advance()
    }
  }

  /** Runs a task alone, once all earlier calls are done. */
  async perform(task: Task): Promise<void> {
    if (!this.isIdle) return this.#enqueue({ task })
    return this.#begin(task)
  }

  /** Waits until everything that is waiting here now is done. */
  async whenFree(): Promise<void> {
    if (!this.isFree) await this.#enqueue({ task: nothing })
  }

  /**
   * Runs hook functions. Writes that they call come after the task that runs the functions, if there is one; otherwise they
   * follow at once.
   */
  run(overlay: Overlay, work: () => void): void {
    try {
      this.#run(overlay, work)
    } finally {
      if (!this.isFree) this.#advance()
    }
  }

  #run(overlay: Overlay, work: () => void): void {
    const before = this.running
    this.running = overlay
    this.isFree = false

    try {
      work()
    } finally {
      this.running = before
      this.#update()
    }
  }

  #take(call: WriteCall, before: OperationList | null): Writes {
    const writes = call.writes(before)
    this.#run(writes, () => writes.take())
    return writes
  }

  #update(): void {
    this.isFree = this.#waiting.length === 0 && this.#task === null && this.running === null
  }

  #enqueue(what: { call: WriteCall } | { task: Task }): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ ...what, resolve, reject })
    })
    this.#update()
    return promise
  }

  #advance(): void {
    while (this.#waiting.length > 0 && this.#pending === 0 && this.#task === null && this.running === null) {
      const first = this.#waiting.first as Waiting

      if ('task' in first) {
        this.#waiting.shift()
        this.#begin(first.task).then(first.resolve, first.reject)
      } else if (this.#reads === null) {
        this.#commit(false)
      } else {
        const reads = this.#reads
        this.#begin({ ...nothing, start: () => this.#commitInSteps(reads) })
      }
    }

    this.#update()
  }

  /** Begins a task. Others wait for it. */
  async #begin(task: Task): Promise<void> {
    this.#task = task
    this.#update()

    try {
      await task.start(false)
    } finally {
      if (task.isAnnounced) nextTurn().then(() => this.#end(task))
      else this.#end(task)
    }
  }

  #end(task: Task): void {
    // A synchronous write may have finished this task and begun another.
    if (this.#task === task) this.#task = null
    this.#advance()
  }

  /** Runs the hook functions of waiting calls, and writes their operations as one batch. */
  #commit(isBlocking: boolean, maxCalls = MAX_GROUP_CALLS): void {
    const group = new WriteGroup(isBlocking)
    const limit = this.#callsAlone > 0 ? 1 : Math.min(maxCalls, MAX_GROUP_CALLS)

    for (let calls = 0; calls < limit; calls++) {
      const next = this.#waiting.first
      if (next === undefined || 'task' in next) break
      this.#waiting.shift()
      if (this.#callsAlone > 0) this.#callsAlone--

      try {
        group.add(next, this.#take(next.call.copy(), group.list))
      } catch (error) {
        next.reject(error)
      }
    }

    if (group.calls.length > 0) this.#write(group, isBlocking)
    this.#update()
  }

  /**
   * Like {@link #commit}, for functions that may have to wait for what they read. No other write begins meanwhile. Calls that are
   * made meanwhile go into the same batch.
   */
  async #commitInSteps(reads: HookReads): Promise<void> {
    const group = new WriteGroup(false)
    const limit = this.#callsAlone > 0 ? 1 : MAX_GROUP_CALLS
    /** The calls before this one have asked for what they need. */
    let asked = this.#waiting.served

    for (let calls = 0; calls < limit; calls++) {
      if (this.#waiting.served === asked) {
        const asking = this.#callsAhead(limit - calls)
        asked += asking.length
        const reading = reads.ahead(asking.flatMap((call) => call.asks()))
        if (reading !== undefined) await reading
      }

      const next = this.#waiting.first
      if (next === undefined || 'task' in next) break
      this.#waiting.shift()
      if (this.#callsAlone > 0) this.#callsAlone--

      try {
        const writes = next.call.copy().writes(group.list)
        const taking = reads.run((work) => this.#run(writes, work), writes.takeInSteps(reads))
        if (taking !== undefined) await taking
        group.add(next, writes)
      } catch (error) {
        next.reject(error)
      }
    }

    reads.forget()
    if (group.calls.length > 0) this.#write(group, false)
  }

  /** The waiting calls up to the next task, at most `limit`. */
  #callsAhead(limit: number): WriteCall[] {
    const calls: WriteCall[] = []
    for (const waiting of this.#waiting.firstOnes(limit)) {
      if ('task' in waiting) break
      calls.push(waiting.call)
    }
    return calls
  }

  #write(group: WriteGroup, isBlocking: boolean): void {
    const { length } = group.calls

    try {
      const written = group.write(this.#writer)
      if (isBlocking) {
        group.resolve()
        return
      }

      const wait = written === undefined ? yieldToEventLoop(length) : undefined
      // Functions may call writes endlessly, so the event loop gets a turn between them.
      if (wait !== undefined) this.track(wait)

      const succeed = (): void => {
        // Callers that write one after the other write again at once, and should share the next sync as well.
        if (length > 1 && group.sync) this.track(nextTurn())
        group.resolve()
      }
      Promise.resolve(written ?? wait).then(succeed, (error) => group.reject(error))
    } catch (error) {
      if (length === 1) {
        group.reject(error)
        return
      }

      // Nothing is written. One call may be at fault, for example because of a key over its limit, so each is written again
      // alone.
      this.#waiting.unshift(group.calls)
      this.#callsAlone += length
    }
  }

  /** Does all earlier calls on this thread. Calls that their hook functions make meanwhile are not among them. */
  #drain(): void {
    const end = this.#waiting.served + this.#waiting.length
    this.#waitForPending()

    while (this.#task !== null || this.#waiting.served < end) {
      if (this.#task !== null) this.#finish()
      else this.#drainNext(end - this.#waiting.served)
      this.#waitForPending()
    }

    this.#update()
  }

  #finish(): void {
    const task = this.#task as Task

    try {
      task.finish()
    } finally {
      this.#task = null
    }
  }

  /** @param maxCalls - The most calls to do. */
  #drainNext(maxCalls: number): void {
    const first = this.#waiting.first as Waiting

    if (!('task' in first)) {
      this.#commit(true, maxCalls)
      return
    }

    this.#waiting.shift()
    // Writes that its hook functions call come after it.
    this.#task = first.task

    try {
      first.resolve(first.task.start(true))
    } catch (error) {
      first.reject(error)
    } finally {
      this.#task = null
    }
  }

  #waitForPending(): void {
    if (this.#pending === 0) return
    this.#writer.writeSync([], false)
    this.#pending = 0
    this.#generation++
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    inNextTurn(resolve)
  })
}

const nothing: Task = { start: () => undefined, finish: () => undefined, isAnnounced: false }

/** Settles once the write is done and its event was emitted. */
function finished(writes: Writes, waiting: void | Promise<void>): Promise<void> {
  if (!writes.hasListeners) return waiting ?? Promise.resolve()
  return Promise.resolve(waiting).then(() => writes.emit())
}

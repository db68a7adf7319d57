/**
 * Builds an index for the existing records while writes continue. Each step writes the state, with a hook function that adds
 * the entries of the next records. The function reads those records when the write has its turn, so it never adds an entry for
 * a value that was replaced meanwhile. Whenever the process ends, the state records how far the entries go.
 *
 * A rebuild leaves the existing entries in place, so that a unique index keeps refusing duplicates. Entries that do not belong
 * there are removed at the end.
 */

import type { AbstractResource } from 'abstract-level'
import { Buffer } from '../buffer.js'
import { codedError } from '../errors.js'
import { askFor, type PrewriteBatch } from '../hooks.js'
import { nextTurn } from '../platform.js'
import type { EntryWriter } from './entry-writer.js'
import type { IndexHook } from './index-hook.js'
import type { IndexProgress } from './options.js'
import { Earlier } from './reads.js'
import { type KeyPage, keyAfter, readKeys } from './records.js'
import { firstState, type State, type StateStore } from './state.js'
import { hasStrayEntries } from './verify.js'

/** The size of a step: usually a few milliseconds of work. A step ends with the record that reaches one of these limits. */
const STEP_RECORDS = 500
const STEP_ENTRIES = 2000
const STEP_TIME_MS = 20

export interface BuilderParts {
  readonly hook: IndexHook
  readonly writer: EntryWriter
  readonly state: StateStore
  readonly onProgress: ((progress: IndexProgress) => void) | undefined
}

/** The work and the result of a step. */
interface Step {
  readonly builder: Builder
  readonly before: State
  readonly keys: readonly Uint8Array[]
  readonly next: Uint8Array | undefined
  after?: State
}

const STEP = Symbol('step')

export class Builder {
  /** Resolves when the index is built; rejects if building failed or was stopped. */
  readonly done: Promise<void>
  readonly #parts: BuilderParts
  #stopReason: Error | undefined

  /**
   * @param restart - Whether to build from the beginning, regardless of the state.
   * @param after - When to begin: an earlier builder may have to stop first.
   */
  constructor(parts: BuilderParts, restart: boolean, after: Promise<void>) {
    this.#parts = parts
    this.done = this.#run(restart, after)
    // Callers that need the index await this promise and get the error.
    this.done.catch(() => {})
  }

  /** Stops, and waits until no more writes are running. */
  async stop(reason: Error): Promise<void> {
    this.#stopReason ??= reason
    await this.done.catch(() => {})
  }

  /** Called by the database, which closes its resources before itself. */
  close(): Promise<void> {
    return this.stop(notOpen())
  }

  async #run(restart: boolean, after: Promise<void>): Promise<void> {
    const { hook, state, writer } = this.#parts
    const { db } = hook.space
    await after
    await db.open({ passive: true })
    // The sublevels were closed with the database, or are still opening. The builder is not attached to the database yet: a
    // closing database would wait for it, while an opening sublevel waits for the database.
    await state.db.open()
    await writer.entries.open()
    this.#assertGoingOn()
    if (db.status !== 'open') throw notOpen()
    const resource = this as unknown as AbstractResource
    db.attachResource(resource)
    try {
      await this.#build(restart)
    } catch (error) {
      throw this.#stopReason ?? error
    } finally {
      db.detachResource(resource)
    }
  }

  async #build(restart: boolean): Promise<void> {
    const { hook, state, writer } = this.#parts
    const { signature } = writer.definition
    let at = await state.read(signature)
    if (at === undefined || (restart && at.status !== 'clearing')) {
      at = at === undefined ? firstState(signature) : { ...firstState(signature), status: 'rebuilding' }
      this.#assertGoingOn()
      await state.write(at)
    }
    if (at.status === 'clearing') {
      this.#assertGoingOn()
      // If possible, keeps the entries of writes since the declaration: without them, a unique index would accept their values
      // again.
      if (await hasStrayEntries(hook, writer)) await writer.entries.clear()
      this.#assertGoingOn()
      at = { ...at, status: 'building' }
      await state.write(at)
    }
    if (at.status !== 'ready') await this.#buildFrom(at)
  }

  async #buildFrom(at: State): Promise<void> {
    const { db } = this.#parts.state
    db.hooks.prewrite.add(takeStep)
    while (at.status !== 'ready') {
      this.#assertGoingOn()
      at = await this.#step(at)
      this.#report(at)
      // Writes that complete synchronously would never yield the event loop.
      await nextTurn()
    }
  }

  async #step(before: State): Promise<State> {
    const { state } = this.#parts
    const { keys, next } = await this.#nextKeys(before)
    this.#assertGoingOn()
    const step: Step = { builder: this, before, keys, next }
    try {
      await state.write(before, { [STEP]: step })
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: unknown }
      throw code === 'LEVEL_HOOK_ERROR' ? cause : error
    }
    return step.after as State
  }

  /** The keys that a step covers: those of records, or of entries. */
  async #nextKeys({ status, start }: State): Promise<KeyPage> {
    const { hook, writer } = this.#parts
    const from = Buffer.from(start, 'hex')
    if (status !== 'sweeping') return readKeys(hook, from, { limit: STEP_RECORDS })

    const range = from.length > 0 ? { gte: from } : {}
    const keys = (await writer.entries
      .keys({ ...range, limit: STEP_RECORDS, keyEncoding: 'buffer' })
      .all()) as Uint8Array[]
    return { keys, next: keys.length < STEP_RECORDS ? undefined : keyAfter(keys.at(-1) as Uint8Array) }
  }

  /** Adds the changes of a step to a batch. The state written with them records what was done. */
  takeStep(step: Step, batch: PrewriteBatch): State {
    if (!this.#parts.hook.space.readsAtOnce) this.#ask(step)
    step.after = step.before.status === 'sweeping' ? this.#sweep(step, batch) : this.#addEntries(step, batch)
    return step.after
  }

  /** Requests everything that the hook will read, if it may have to wait for reads. */
  #ask({ before, keys }: Step): void {
    const { hook, writer } = this.#parts
    const reads = hook.reads()
    askFor(keys, (key) => {
      if (before.status === 'sweeping') writer.isStray(key, reads)
      else writer.changes({ key, old: undefined, value: reads.shownValue(key), isOldIndexed: true, reads })
    })
  }

  /** Removes entries that belong to no record. */
  #sweep({ before, keys, next }: Step, batch: PrewriteBatch): State {
    const { hook, writer } = this.#parts
    const reads = hook.reads()
    for (const key of keys) {
      if (writer.isStray(key, reads)) batch.add(writer.removal(key))
    }
    return { ...before, ...reached(before, next) }
  }

  #addEntries({ before, keys, next }: Step, batch: PrewriteBatch): State {
    const { hook, writer } = this.#parts
    const reads = new Earlier(hook.reads())
    let { records, entries } = before
    let last: Uint8Array | undefined
    const deadline = performance.now() + STEP_TIME_MS
    for (const key of keys) {
      const changes = writer.changes({
        key,
        old: undefined,
        value: reads.shownValue(key),
        isOldIndexed: true,
        reads
      })
      changes.addTo(batch, reads)
      records++
      entries += changes.length
      last = key
      if (entries - before.entries >= STEP_ENTRIES || performance.now() > deadline) break
    }
    const start = last !== undefined && last !== keys.at(-1) ? keyAfter(last) : next
    return { ...before, ...reached(before, start), records, entries }
  }

  #report({ records, entries }: State): void {
    try {
      this.#parts.onProgress?.({ records, entries })
    } catch {
      // An error of the callback does not concern the index.
    }
  }

  #assertGoingOn(): void {
    if (this.#stopReason !== undefined) throw this.#stopReason
  }
}

/** The hook function for writes of states. All builders share it; the step names its builder. */
function takeStep(operation: { value?: unknown; [STEP]?: Step }, batch: PrewriteBatch): void {
  const step = operation[STEP]
  if (step !== undefined) operation.value = step.builder.takeStep(step, batch)
}

/** The state after a step: the next one starts at `start`, or the pass has ended. */
function reached({ status }: State, start: Uint8Array | undefined): Pick<State, 'status' | 'start'> {
  if (start !== undefined) return { status, start: Buffer.from(start).toString('hex') }
  return { status: status === 'rebuilding' ? 'sweeping' : 'ready', start: '' }
}

function notOpen(): Error {
  return codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
}

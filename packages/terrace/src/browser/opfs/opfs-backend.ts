/**
 * The engine in WebAssembly, on files of the origin-private file system, as a back-end of `terrace-core`. Reads are answered within their
 * call. Small writes wait for the end of the turn, or for the next read, and go to the log together; all wait while more files have to be
 * opened.
 */

import {
  type Backend,
  type BackendReadOptions,
  type Bytes,
  type CodedError,
  type Operations,
  type RangeDeletion,
  type VersionedValue,
  yieldToEventLoop
} from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import { lostError } from '../errors.js'
import { type PlacedOptions, sizesOf } from '../level-options.js'
import type { ModuleLoader } from '../load-modules.js'
import type { ExportOptions } from '../transfer-options.js'
import { textAt } from '../utf8.js'
import { putBack, storeBatch, storeOne, storeTwo } from '../wasm/arguments.js'
import { assertHeld, storeConditional, type WasmCondition } from '../wasm/conditions.js'
import { storeRange } from '../wasm/cursor.js'
import { Engine, NOT_FOUND } from '../wasm/engine.js'
import { WasmReads } from '../wasm/reads.js'
import type { WasmSnapshot } from '../wasm/snapshot.js'
import { Background } from './background-jobs.js'
import { CopiedFiles } from './copied-files.js'
import { exportDatabase } from './export-database.js'
import { directoryName, FilePool } from './file-pool.js'
import { joinBatches, MAX_JOINED_BYTES } from './joined-batches.js'
import { nextTurn } from './next-turn.js'

/** Flags of `terrace_open`. */
const CREATE_IF_MISSING = 1
const ERROR_IF_EXISTS = 2

/** Fewer free files than this are a reason to open more. */
const FEW_FILES = 8

/** How often to check that the browser has not removed the database. */
const LOOK_MS = 2000

/** The engine takes this as no limit; a negative number is passed as the same value. */
const NO_LIMIT = 0xffffffff

/** The first bytes of an entry. */
const VERSION_BYTES = 8

/** A larger write gains nothing from being joined with others. */
const SMALL_BYTES = 4096

/** Does some work: all of it if `mustEnd`, otherwise as much as there are files for. Returns the rest. */
type Work = (mustEnd: boolean) => Work | undefined

/** A write that waits. */
interface Waiting {
  /** The bytes of its batch, or what it does instead. */
  readonly work: Uint8Array | Work
  readonly sync: boolean
  resolve(): void
  reject(error: unknown): void
}

export class OpfsBackend extends WasmReads implements Backend<WasmSnapshot> {
  readonly storage = 'opfs'
  readonly manifest = {
    encodings: { utf8: true, view: true },
    syncReads: true,
    syncWrites: true,
    conditionalWrites: true,
    versions: true,
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #name: string
  readonly #load: ModuleLoader
  #pool: FilePool | undefined
  #engine: Engine | undefined
  #background: Background | undefined
  /** Writes that wait for the end of the turn, or until more files are open. Later ones come after them. */
  #waiting: Waiting[] = []
  /** Whether the pool may have more files. */
  #mayGrow = true
  #growing: Promise<void> | undefined
  #looking: ReturnType<typeof setInterval> | undefined
  /** Set once the browser has removed the database. Resolves when its files are closed. */
  #losing: Promise<void> | undefined
  /** Called when the browser has removed the database, and its files are closed. */
  onLost: (error: Error) => void = () => {}

  /** @param location - Where the database is: any string. */
  constructor(location: string, load: ModuleLoader) {
    super()
    this.#name = directoryName(location)
    this.#load = load
  }

  /** The engine, which has all writes that were called before, unless they wait for files. */
  protected get opened(): Engine {
    if (this.#waiting.length > 0 && this.#growing === undefined) this.#writeWaiting()
    return this.#engine as Engine
  }

  /** Distinguishes this database from a later one at the same location. */
  get identity(): string | undefined {
    return this.#pool?.identity
  }

  async open(options: PlacedOptions): Promise<void> {
    const [writeBufferSize, cacheSize] = sizesOf(options)
    const create = options.createIfMissing !== false
    const flags = (create ? CREATE_IF_MISSING : 0) | (options.errorIfExists === true ? ERROR_IF_EXISTS : 0)
    const module = await this.#load()
    const pool = await FilePool.open(this.#name, create, options.identity)
    this.#pool = pool
    try {
      const engine = new Engine(module, (engine) => pool.imports(engine))
      this.#engine = engine
      this.#mayGrow = true
      await pool.growWhile(() => engine.call('terrace_open_wants_files') === 1)
      this.#call(() => engine.call('terrace_open', flags, writeBufferSize, cacheSize))
      this.#background = new Background(() => this.#step())
      this.#losing = undefined
      this.#looking = lookAgain(new WeakRef(this))
    } catch (error) {
      pool.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#background?.stop()
    // A clear may need more files again.
    while (this.#growing !== undefined) await this.#growing
    // A failed close has closed the database nevertheless.
    if (this.#engine === undefined) return
    clearInterval(this.#looking)
    try {
      // What is lost cannot be closed.
      if (this.#losing === undefined) this.#call(() => this.opened.call('terrace_close'))
    } catch (error) {
      // The program must learn what was not written; that error takes precedence.
      await this.#letGo().catch(() => {})
      throw error
    }
    await this.#letGo()
  }

  async #letGo(): Promise<void> {
    this.#engine = undefined
    // A loss has been reported, and its files are closed.
    await this.look().then(
      () => this.#pool?.close(),
      () => {}
    )
  }

  /**
   * Checks that the database still exists.
   *
   * @internal
   * @throws LEVEL_STORAGE_LOST if the browser has removed it. Its files are closed then, and all calls fail.
   */
  async look(): Promise<void> {
    const pool = this.#pool as FilePool
    if (this.#losing === undefined && (await pool.isThere())) return
    const error = lostError()
    this.#losing ??= this.#lose(error)
    await this.#losing
    throw error
  }

  async #lose(error: CodedError<LevelErrorCode>): Promise<void> {
    this.#engine?.end(error)
    this.#background?.stop()
    clearInterval(this.#looking)
    // Where the browser refuses even that, the files stay open until the worker ends.
    await this.#pool?.closeRemoved().catch(() => {})
    this.onLost(error)
  }

  getEntry(key: Bytes, options: BackendReadOptions, snapshot?: WasmSnapshot): VersionedValue | undefined {
    const engine = this.opened
    const found = engine.call('terrace_get_entry', snapshot?.number ?? 0, storeOne(engine, key))
    if (found === NOT_FOUND) return undefined
    const output = engine.output()
    const version = new DataView(output.buffer, output.byteOffset).getBigUint64(0, true)
    const [start, end] = [VERSION_BYTES, output.length]
    const value = options.valueEncoding === 'utf8' ? textAt(output, start, end) : output.slice(start)
    return [value, Number(version)]
  }

  write(operations: Operations, sync: boolean): void | Promise<void> {
    const engine = this.#engine as Engine
    const length = storeBatch(engine, operations)
    if (length <= SMALL_BYTES || this.#mustWait) return this.#wait(engine.takeOut(length), sync)
    if (this.#waiting.length > 0) return this.writeBatch(engine.takeOut(length), sync)
    return this.#acknowledged(sync, () => this.#writeStored(length, sync))
  }

  /** Writes a batch that is already in LevelDB's format, like {@link write}. */
  writeBatch(batch: Uint8Array, sync: boolean): void | Promise<void> {
    if (this.#mustWait) return this.#wait(batch.slice(), sync)
    const engine = this.opened
    return this.#acknowledged(sync, () => this.#writeStored(putBack(engine, batch), sync))
  }

  /**
   * Writes. With `sync`, the write is acknowledged only once the database was found to still exist; the browser checks that while
   * its files are flushed.
   */
  #acknowledged(sync: boolean, write: () => void): void | Promise<void> {
    const looked = sync ? this.look() : undefined
    // If the write fails, its error is the one to report.
    looked?.catch(() => {})
    write()
    return looked
  }

  get #mustWait(): boolean {
    return this.#growing !== undefined || this.#needsFiles()
  }

  #wait(work: Waiting['work'], sync: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, sync, resolve, reject })
      if (this.#growing !== undefined) return
      if (this.#needsFiles()) void this.#grow()
      else if (this.#waiting.length === 1) void this.#writeLater()
    })
  }

  async #writeLater(): Promise<void> {
    await yieldToEventLoop()
    if (this.#growing === undefined) this.#writeWaiting()
  }

  writeSync(operations: Operations, sync: boolean): void {
    this.#writeWaiting(true)
    this.#writeStored(storeBatch(this.#engine as Engine, operations), sync)
    // The answer comes too late for this call, but not for the next one.
    if (sync) void this.look().catch(() => {})
  }

  /** Writes after all writes that were called before: within the call, unless those wait for files. */
  writeIf(conditions: readonly WasmCondition[], operations: Operations, sync: boolean): void | Promise<void> {
    const engine = this.opened
    const lengths = storeConditional(engine, conditions, operations)
    const write = () => this.#writeStoredIf(lengths, sync, conditions.length)
    if (!this.#mustWait) return this.#acknowledged(sync, write)

    const stored = engine.takeOut(lengths[0] + lengths[1])
    const work: Work = () => {
      putBack(this.#engine as Engine, stored)
      write()
      return undefined
    }
    return this.#wait(work, false).then(() => (sync ? this.look() : undefined))
  }

  writeIfSync(conditions: readonly WasmCondition[], operations: Operations, sync: boolean): void {
    this.#writeWaiting(true)
    const stored = storeConditional(this.#engine as Engine, conditions, operations)
    this.#writeStoredIf(stored, sync, conditions.length)
    if (sync) void this.look().catch(() => {})
  }

  /** Deletes a range between the writes before and after it: within the call, unless those before it wait for files. */
  clear(range: RangeDeletion, snapshot?: WasmSnapshot): void | Promise<void> {
    const work: Work = () => this.#clear(range, snapshot)
    if (this.#growing !== undefined) return this.#wait(work, false)
    const rest = work(false)
    if (rest !== undefined) return this.#wait(rest, false)
  }

  #clear(range: RangeDeletion, snapshot: WasmSnapshot | undefined): Work | undefined {
    const engine = this.opened
    const stored = storeRange(engine, range, 0)
    const limit = Math.min(range.limit, NO_LIMIT)
    return this.#clearPart(() => engine.call('terrace_clear', snapshot?.number ?? 0, ...stored, limit))
  }

  #clearPart(part: () => number): Work | undefined {
    try {
      const rest = this.#call(part)
      if (rest === 0) return undefined
      return (mustEnd) =>
        this.#clearPart(() => (this.#engine as Engine).call('terrace_clear_rest', rest, Number(mustEnd)))
    } finally {
      this.#background?.begin()
    }
  }

  /** As {@link Level.approximateSize}. */
  approximateSize(start: Bytes, end: Bytes): number {
    const engine = this.opened
    engine.call('terrace_approximate_size', ...storeTwo(engine, start, end))
    const output = engine.output()
    return Number(new DataView(output.buffer, output.byteOffset).getBigUint64(0, true))
  }

  /** As {@link Level.compactRange}. Other calls are served between its steps. */
  async compactRange(start: Bytes, end: Bytes): Promise<void> {
    const engine = this.opened
    const compaction = this.#call(() => engine.call('terrace_compact_range', ...storeTwo(engine, start, end)))
    do {
      await nextTurn()
      if (this.#engine === engine && this.#needsFiles()) await this.#grow()
      // If the database was closed, the engine throws.
    } while (this.#call(() => engine.call('terrace_compact_step', compaction)) === 1)
    this.#background?.begin()
  }

  /** As {@link Level.export}. */
  export(options: ExportOptions): AsyncGenerator<File, void, void> {
    return exportDatabase(this, options)
  }

  /** Makes a copy of the current state, as the files of a LevelDB directory. */
  async copy(): Promise<CopiedFiles> {
    const engine = this.opened
    if (this.#needsFiles()) await this.#grow()
    return this.#pool?.run(() => new CopiedFiles(engine)) as CopiedFiles
  }

  /** Releases a copy. Closing the database has done that already. */
  release(copy: CopiedFiles): void {
    if (copy.isOf(this.#engine)) copy.release()
  }

  #writeStored(length: number, sync: boolean): void {
    try {
      this.#call(() => (this.#engine as Engine).call('terrace_write', length, Number(sync)))
    } finally {
      // Also if there was no room: a job may free some.
      this.#background?.begin()
    }
  }

  /** @throws LEVEL_CONFLICT if one of the stored conditions does not hold. */
  #writeStoredIf(lengths: readonly [number, number], sync: boolean, count: number): void {
    const engine = this.#engine as Engine
    try {
      const failed = this.#call(() => engine.call('terrace_write_if', ...lengths, Number(sync)))
      assertHeld(engine, failed, count)
    } finally {
      this.#background?.begin()
    }
  }

  /** Performs the waiting writes, in order. Few free files suffice for now, unless some work returns a rest. */
  #writeWaiting(mustEnd = false): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (let start = 0; start < waiting.length; ) {
      const end = endOfJoined(waiting, start)
      const rest = this.#writeTogether(waiting.slice(start, end), mustEnd)
      if (rest !== undefined) {
        this.#waiting = [rest, ...waiting.slice(end)]
        void this.#grow()
        return
      }
      start = end
    }
  }

  /** Writes batches as one, or does the work of a single write. Returns the rest of that work. */
  #writeTogether(writes: readonly Waiting[], mustEnd: boolean): Waiting | undefined {
    try {
      const [{ work }] = writes as readonly [Waiting]
      if (typeof work === 'function') {
        const rest = work(mustEnd)
        if (rest !== undefined) return { ...(writes[0] as Waiting), work: rest }
        resolveAll(writes, undefined)
      } else resolveAll(writes, this.#writeJoined(writes))
    } catch (error) {
      for (const { reject } of writes) reject(error)
    }
    return undefined
  }

  #writeJoined(writes: readonly Waiting[]): void | Promise<void> {
    const batch = joinBatches(writes.map(({ work }) => work as Uint8Array))
    const sync = writes.some(({ sync }) => sync)
    return this.#acknowledged(sync, () => this.#writeStored(putBack(this.#engine as Engine, batch), sync))
  }

  #needsFiles(): boolean {
    return this.#mayGrow && (this.#engine as Engine).call('terrace_free_files') < FEW_FILES
  }

  /** Opens more files, then performs the waiting writes. If the browser refuses, the free files have to suffice for now. */
  #grow(): Promise<void> {
    this.#growing ??= (async () => {
      this.#mayGrow = await (this.#pool as FilePool).grow().catch(() => true)
      this.#growing = undefined
      this.#writeWaiting()
    })()
    return this.#growing
  }

  /** Runs one job in the background. Returns whether another may wait. */
  async #step(): Promise<boolean> {
    if (this.#needsFiles()) await this.#grow()
    return this.#engine?.call('terrace_step') === 1
  }

  #call(call: () => number): number {
    return (this.#pool as FilePool).run(call)
  }
}

/** @param durable - When those with `sync` are acknowledged. */
function resolveAll(writes: readonly Waiting[], durable: void | Promise<void>): void {
  for (const { sync, resolve, reject } of writes) {
    if (sync && durable !== undefined) durable.then(resolve, reject)
    else resolve()
  }
}

/** Calls `look()` again and again, until the back-end is garbage-collected. */
function lookAgain(backend: WeakRef<OpfsBackend>): ReturnType<typeof setInterval> {
  const timer = setInterval(() => {
    const known = backend.deref()
    if (known === undefined) clearInterval(timer)
    else known.look().catch(() => {})
  }, LOOK_MS)
  return timer
}

/** The end of the writes from `start` on that go to the log together. */
function endOfJoined(waiting: readonly Waiting[], start: number): number {
  let sizeBytes = 0
  let end = start
  do {
    const { work } = waiting[end] as Waiting
    sizeBytes += typeof work === 'function' ? Number.POSITIVE_INFINITY : work.length
    if (end > start && sizeBytes > MAX_JOINED_BYTES) break
    end++
  } while (end < waiting.length)
  return end
}

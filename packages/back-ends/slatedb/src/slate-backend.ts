/** SlateDB as a back-end of `terrace-core`: each call becomes one of the engine. */

import {
  type Backend,
  type BackendManifest,
  type BackendReadOptions,
  type Bytes,
  type CursorOptions,
  type CursorParts,
  clearKeys,
  codedError,
  type Operations,
  type RangeDeletion
} from 'terrace-core'
import { type Binding, loadBinding, type Native, type ReadOptions, type Source } from './binding.js'
import { Calls } from './calls.js'
import { slateError } from './errors.js'
import { checkOperation, fits, inFormat, storedKey } from './keys.js'
import { isInMemory, resolveStore } from './location.js'
import { type OpenOptions, settingsOf } from './options.js'
import { prepare } from './prepare.js'
import { Reader } from './reader.js'
import { SlateCursor } from './slate-cursor.js'
import type { State } from './state.js'
import { openToWrite, Writer } from './writer.js'

/** How many reads of one call are under way at once. */
const CONCURRENT_READS = 64

export class SlateBackend implements Backend<State> {
  readonly manifest: BackendManifest
  readonly #location: string
  readonly #storeOptions: Readonly<Record<string, string>>
  readonly #flushIntervalMs: number
  /** Kept from one opening to the next, because what is in memory goes with it. */
  #store: Native | undefined
  #calls: Calls | undefined
  #writer: Writer | undefined
  #reader: Reader | undefined

  constructor(location: string, storeOptions: Readonly<Record<string, string>>, flushIntervalMs: number) {
    this.#location = location
    this.#storeOptions = storeOptions
    this.#flushIntervalMs = flushIntervalMs
    this.manifest = {
      encodings: { buffer: true, utf8: true, view: true },
      permanence: !isInMemory(location),
      createIfMissing: true,
      errorIfExists: true
    }
  }

  async open(options: OpenOptions): Promise<void> {
    const settings = settingsOf(options, this.#flushIntervalMs)
    const calls = new Calls(this.#location, settings.deadlineMs, this.#storeOptions)
    const binding = await loadBinding()
    const store = this.#resolve(binding, calls)
    this.#calls = calls
    const logFiles = await prepare(binding, store, calls, settings)
    if (settings.readOnly) {
      this.#reader = await Reader.open(binding, store, calls, settings)
    } else {
      const db = await openToWrite(binding, store, calls, settings)
      this.#writer = new Writer(db, binding, calls, {
        acknowledgesInMemory: settings.acknowledge === 'memory',
        flushIntervalMs: this.#flushIntervalMs,
        logFiles
      })
    }
  }

  #resolve(binding: Binding, calls: Calls): Native {
    try {
      this.#store ??= resolveStore(binding, this.#location, this.#storeOptions)
      return this.#store
    } catch (error) {
      throw calls.translated(error)
    }
  }

  async close(): Promise<void> {
    const [writer, reader] = [this.#writer, this.#reader]
    this.#writer = undefined
    this.#reader = undefined
    try {
      await writer?.close()
    } finally {
      await reader?.close()
    }
  }

  /** Brings a reader up to date. */
  async refresh(): Promise<void> {
    await this.#reader?.refresh()
  }

  /** What reads without a snapshot read from: the newest state. */
  get #newest(): Source {
    if (this.#writer?.fenced !== undefined) throw this.#writer.fenced
    const source = this.#writer?.db ?? this.#reader?.source
    if (source === undefined) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return source
  }

  get #writable(): Writer {
    if (this.#writer !== undefined) return this.#writer
    throw slateError('LEVEL_READ_ONLY', "Database was opened with 'readOnly'", this.#location)
  }

  async get(key: Bytes, options: BackendReadOptions, snapshot?: State): Promise<Bytes | undefined> {
    if (!fits(key)) return undefined
    const found = await this.#find(storedKey(key), readOptions(options), snapshot)
    return found === undefined ? undefined : inFormat(found, options.valueEncoding)
  }

  #find(key: Buffer, options: ReadOptions, state: State | undefined): Promise<Uint8Array | undefined> {
    const read = (source: Source): Promise<Uint8Array | undefined> => source.get_with_options(key, options)
    return (this.#calls as Calls).within('a read', state === undefined ? read(this.#newest) : state.use(read))
  }

  async getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: State
  ): Promise<Array<Bytes | undefined>> {
    const state = snapshot ?? this.snapshot()
    const values: Array<Bytes | undefined> = []
    try {
      for (let i = 0; i < keys.length; i += CONCURRENT_READS) {
        const some = keys.slice(i, i + CONCURRENT_READS).map((key) => this.get(key, options, state))
        values.push(...(await Promise.all(some)))
      }
      return values
    } finally {
      if (snapshot === undefined) state.close()
    }
  }

  async has(key: Bytes, options: BackendReadOptions, snapshot?: State): Promise<boolean> {
    return (await this.get(key, options, snapshot)) !== undefined
  }

  async hasMany(keys: Bytes[], options: BackendReadOptions, snapshot?: State): Promise<boolean[]> {
    const values = await this.getMany(keys, options, snapshot)
    return values.map((value) => value !== undefined)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: State): SlateCursor {
    const state = snapshot ?? this.snapshot()
    return new SlateCursor(state, snapshot === undefined, this.#calls as Calls, options, parts)
  }

  snapshot(): State {
    return this.#reader?.snapshot() ?? this.#writable.snapshot()
  }

  write(operations: Operations, sync: boolean): Promise<void> {
    const writer = this.#writable
    for (let i = 0; i < operations.length; i += 2) {
      checkOperation(operations[i] as Bytes, operations[i + 1] as Bytes | null)
    }
    return writer.write(operations, sync)
  }

  /** Deletes the keys in several batches, so a failure may leave some of them deleted. */
  clear(range: RangeDeletion, snapshot?: State): Promise<void> {
    const writer = this.#writable
    return writer.run(() => this.#clear(writer, range, snapshot), false)
  }

  async #clear(writer: Writer, range: RangeDeletion, snapshot: State | undefined): Promise<void> {
    // The writer ends with this, so it has the state even if close() was called meanwhile.
    const state = snapshot ?? writer.snapshot()
    const options = { ...range, keyEncoding: 'view' as const }
    const cursor = new SlateCursor(state, snapshot === undefined, this.#calls as Calls, options, 'keys')
    await clearKeys(cursor, range.limit, (keys) => writer.apply(keys.flatMap((key) => [key, null])))
  }
}

function readOptions({ fillCache }: BackendReadOptions): ReadOptions {
  return { durability_filter: 'Memory', dirty: false, cache_blocks: fillCache !== false }
}

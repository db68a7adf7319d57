/**
 * A table of MariaDB or MySQL as a back-end of `terrace-core`. This file assembles the parts: `pool`, `state` and `cursor` read;
 * `write-queue`, `committer`, `marks` and `fates` make each write take effect once; `schema` creates the tables.
 */

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
import { clearRange, deleteInParts } from './clearing.js'
import { Committer } from './committer.js'
import { Cursor } from './cursor.js'
import type { ServerSettings, SessionOptions } from './dialect.js'
import { translated } from './failures.js'
import { decideAll, type Registry } from './fates.js'
import { storedKey } from './keys.js'
import { type Binary, binaryOf } from './literals.js'
import { removeOldMarks } from './marks.js'
import type { Settings } from './options.js'
import type { Pool } from './pool.js'
import { joinPool, leavePool, poolKey } from './pools.js'
import { onAnyHost, Reads } from './reads.js'
import { numberOf, type Wanted } from './schema.js'
import { State } from './state.js'
import { type Tables, tablesOf } from './tables.js'
import type { Target } from './target.js'
import { now } from './time.js'
import { checkValueSize, packetsOf } from './transaction.js'
import { inFormat } from './values.js'
import { WriteQueue } from './write-queue.js'

/** The parts of an open database. */
interface Opened {
  readonly pool: Pool
  readonly n: number
  readonly server: ServerSettings
  readonly committer: Committer
  readonly reads: Reads
  readonly writes: WriteQueue
}

export class MysqlBackend implements Backend<State> {
  readonly manifest: BackendManifest
  readonly #target: Target
  readonly #settings: Settings
  readonly #session: SessionOptions
  readonly #tables: Tables
  #opened: Opened | undefined
  /** A state that waits for a connection. Other readers can share it meanwhile. */
  #pending: State | undefined
  /** The newest state, if no write was sent or acknowledged since it was requested, so that it is still current. */
  #newest: State | undefined

  constructor(target: Target, settings: Settings) {
    this.#target = target
    this.#settings = settings
    this.#tables = tablesOf(settings.table)
    this.#session = {
      waitForSync: settings.waitForSync,
      lockWaitSeconds: Math.max(1, Math.floor(settings.deadlineMs / 1000))
    }
    this.manifest = {
      encodings: { buffer: true, utf8: true, view: true },
      shared: settings.shared,
      createIfMissing: true,
      errorIfExists: true
    }
  }

  /** What the server reports about itself; undefined while the database is not open. */
  get server(): ServerSettings | undefined {
    return this.#opened?.server
  }

  async open(options: Wanted): Promise<void> {
    const { poolSize, deadlineMs, name } = this.#settings
    const { commits, data } = this.#tables
    const pool = joinPool(this, this.#target, this.#session, poolSize)
    const registry: Registry = {
      pool,
      table: commits,
      key: `${poolKey(this.#target, this.#session)} ${commits}`
    }
    try {
      const end = now() + deadlineMs
      const [n, server] = await onAnyHost(pool, end, async (connection) => [
        await numberOf(connection, this.#tables, binaryOf(name), options, end),
        connection.settings
      ])
      await decideAll(registry, end)
      await onAnyHost(pool, end, (connection) => removeOldMarks(connection, commits, end))
      const committer = new Committer(registry, deadlineMs)
      this.#opened = {
        pool,
        n,
        server,
        committer,
        reads: new Reads(pool, data, n, deadlineMs),
        writes: new WriteQueue((changes, end) => this.#commit(changes, end))
      }
    } catch (error) {
      leavePool(this, this.#target, this.#session)
      throw translated(error)
    }
  }

  async close(): Promise<void> {
    const { writes, reads, committer } = this.#open
    await Promise.all([writes.whenIdle(), reads.whenIdle()])
    this.#opened = undefined
    this.#pending = undefined
    this.#newest = undefined
    if (writes.refusal === undefined) {
      // The mark is no longer needed. If this fails, it is removed as an old one later.
      await committer.clean(now() + this.#settings.deadlineMs).catch(() => {})
    }
    leavePool(this, this.#target, this.#session)
  }

  get #open(): Opened {
    if (this.#opened === undefined) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return this.#opened
  }

  async get(key: Bytes, { valueEncoding }: BackendReadOptions, state?: State): Promise<Bytes | undefined> {
    const row = await this.#open.reads.row('v', key, state)
    return row === undefined ? undefined : inFormat(row[0] as Buffer, valueEncoding)
  }

  async getMany(
    keys: Bytes[],
    { valueEncoding }: BackendReadOptions,
    state?: State
  ): Promise<Array<Bytes | undefined>> {
    const rows = await this.#open.reads.rows('k,v', keys, state, () => this.snapshot())
    return rows.map((row) => (row === undefined ? undefined : inFormat(row[1] as Buffer, valueEncoding)))
  }

  async has(key: Bytes, _options: BackendReadOptions, state?: State): Promise<boolean> {
    return (await this.#open.reads.row('1', key, state)) !== undefined
  }

  async hasMany(keys: Bytes[], _options: BackendReadOptions, state?: State): Promise<boolean[]> {
    const rows = await this.#open.reads.rows('k', keys, state, () => this.snapshot())
    return rows.map((row) => row !== undefined)
  }

  /** Each commit is as durable as the server's settings make it, with or without the option `sync`. */
  write(operations: Operations): Promise<void> {
    const { writes, server } = this.#open
    if (writes.refusal !== undefined) throw writes.refusal
    const stored: Array<Binary | null> = []
    let bytes = 0
    for (let i = 0; i < operations.length; i += 2) {
      const key = storedKey(operations[i] as Bytes)
      const part = operations[i + 1] as Bytes | null
      const value = part === null ? null : binaryOf(part)
      if (value !== null) checkValueSize(value.length, server)
      stored.push(key, value)
      bytes += key.length + (value?.length ?? 0)
    }
    return writes.write(stored, bytes, now() + this.#settings.deadlineMs)
  }

  put(key: Bytes, value: Bytes): Promise<void> {
    return this.write([key, value])
  }

  del(key: Bytes): Promise<void> {
    return this.write([key, null])
  }

  async #commit(changes: Map<Binary, Binary | null>, end: number): Promise<void> {
    if (changes.size === 0) return
    const { committer, n } = this.#open
    await this.#orRefuse(() =>
      committer.commit((settings) => packetsOf(changes, this.#tables, n, settings), end)
    )
  }

  /** After a commit of unknown fate, nothing more is written. */
  async #orRefuse(work: () => Promise<void>): Promise<void> {
    const { writes } = this.#open
    if (writes.refusal !== undefined) throw writes.refusal
    this.#newest = undefined
    try {
      await work()
    } catch (error) {
      if ((error as { code?: string }).code === 'LEVEL_COMMIT_UNKNOWN') writes.refuse(error as Error)
      throw error
    } finally {
      this.#newest = undefined
    }
  }

  /** Deletes in several transactions, so a failure may leave some keys deleted. */
  clear(range: RangeDeletion, state?: State): Promise<void> {
    const { writes, committer, pool, n } = this.#open
    const { deadlineMs } = this.#settings
    const clearing = { pool, committer, table: this.#tables.data, n, deadlineMs }
    if (state === undefined && range.limit < 0) {
      return writes.barrier(() => this.#orRefuse(() => clearRange(clearing, range)))
    }
    return writes.barrier(() =>
      clearKeys(this.cursor({ ...range, keyEncoding: 'view' }, 'keys', state), range.limit, (keys) =>
        deleteInParts(keys, (part) => this.#commit(part, now() + deadlineMs))
      )
    )
  }

  cursor(options: CursorOptions, parts: CursorParts, state?: State): Cursor {
    const { n } = this.#open
    return new Cursor(this.#tables.data, n, options, parts, state ?? this.snapshot(), state === undefined)
  }

  /** Later writes wait until the server has taken the state. */
  snapshot(): State {
    const { pool, writes } = this.#open
    if (this.#pending !== undefined && !this.#pending.isSent) return this.#pending.share()

    const mustWait = pool.isFullForHolding
    // A holder of a state may be about to write. That write would wait for this state, and this state for a connection.
    if (mustWait && !this.#settings.shared && this.#newest?.isUsable) return this.#newest.share()
    const state = new State(pool, this.#settings.deadlineMs)
    this.#pending = mustWait ? state : undefined
    this.#newest = state
    writes.holdUntil(state.started)
    return state
  }
}

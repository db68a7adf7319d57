/** Reads of single keys: from the current state, on any host that answers, or from a state that is held. */

import type { Bytes } from 'terrace-core'
import type { Connection, Row } from './connection.js'
import { deadlineError, isHostDown, translated } from './failures.js'
import { MAX_KEY_SIZE_BYTES } from './keys.js'
import { type Binary, binaryOf, literal } from './literals.js'
import type { Pool } from './pool.js'
import { Running } from './running.js'
import type { State } from './state.js'
import { now, pause, until } from './time.js'

/** Longer lists of keys take MariaDB to another plan, so they are read in parts. */
const KEYS_OF_QUERY = 500
const QUERY_BYTES = 256 * 1024
const PAUSE_MS = 20

/** Runs something on a connection; on another one, perhaps of another host, if that one fails. It must not matter if it runs twice. */
export async function onAnyHost<T>(
  pool: Pool,
  end: number,
  run: (connection: Connection) => Promise<T>
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const connection = await pool.acquire('operation', end)
    try {
      return await run(connection)
    } catch (error) {
      if (connection.isBroken) pool.hostFailed(connection.host)
      if (!isHostDown(error)) throw translated(error)
      if (until(end) <= PAUSE_MS) throw deadlineError('The operation', translated(error))
      if (attempt > 1) await pause(PAUSE_MS)
    } finally {
      pool.release(connection)
    }
  }
}

/** Reads keys of one database. */
export class Reads {
  readonly #pool: Pool
  readonly #table: string
  readonly #n: number
  readonly #deadlineMs: number
  readonly #running = new Running()

  constructor(pool: Pool, table: string, n: number, deadlineMs: number) {
    this.#pool = pool
    this.#table = table
    this.#n = n
    this.#deadlineMs = deadlineMs
  }

  /** Settles when no read is running. */
  whenIdle(): Promise<void> {
    return this.#running.whenIdle()
  }

  /** Returns the columns of the row of a key, or undefined. */
  row(columns: string, key: Bytes, state: State | undefined): Promise<Row | undefined> {
    return this.#running.note(this.#row(columns, key, state))
  }

  async #row(columns: string, key: Bytes, state: State | undefined): Promise<Row | undefined> {
    const stored = binaryOf(key)
    if (stored.length > MAX_KEY_SIZE_BYTES) return undefined
    const [row] = await this.#rows(
      `SELECT ${columns} FROM ${this.#table} WHERE n=${this.#n} AND k=${literal(stored)}`,
      state
    )
    return row
  }

  /**
   * Returns the row of each key, all of one state.
   *
   * @param columns - `k` first.
   * @param takeState - Takes the current state, if several statements have to read from one.
   */
  rows(
    columns: string,
    keys: readonly Bytes[],
    state: State | undefined,
    takeState: () => State
  ): Promise<Array<Row | undefined>> {
    return this.#running.note(this.#manyRows(columns, keys, state, takeState))
  }

  async #manyRows(
    columns: string,
    keys: readonly Bytes[],
    state: State | undefined,
    takeState: () => State
  ): Promise<Array<Row | undefined>> {
    const stored = keys.map(binaryOf)
    const queries = this.#queries(columns, stored)
    if (queries.length === 0) return keys.map(() => undefined)

    const own = state === undefined && queries.length > 1 ? takeState() : undefined
    const found = new Map<Binary, Row>()
    try {
      for (const query of queries) {
        for (const row of await this.#rows(query, own ?? state)) found.set(binaryOf(row[0] as Buffer), row)
      }
    } finally {
      own?.close()
    }
    return stored.map((key) => found.get(key))
  }

  #queries(columns: string, keys: readonly Binary[]): string[] {
    const queries: string[] = []
    let list: string[] = []
    let bytes = 0
    const flush = (): void => {
      if (list.length === 0) return
      queries.push(`SELECT ${columns} FROM ${this.#table} WHERE n=${this.#n} AND k IN (${list.join(',')})`)
      list = []
      bytes = 0
    }
    for (const key of keys) {
      if (key.length > MAX_KEY_SIZE_BYTES) continue
      if (list.length >= KEYS_OF_QUERY || bytes > QUERY_BYTES) flush()
      list.push(literal(key))
      bytes += key.length
    }
    flush()
    return queries
  }

  #rows(sql: string, state: State | undefined): Promise<Row[]> {
    if (state !== undefined) return state.query(sql)
    const end = now() + this.#deadlineMs
    return onAnyHost(this.#pool, end, (connection) => connection.rows(sql, end))
  }
}

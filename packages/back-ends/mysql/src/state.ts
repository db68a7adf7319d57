/** A state of the database to read from: a transaction with a consistent snapshot, and the connection that holds it. */

import type { BackendSnapshot } from 'terrace-core'
import type { Connection, Row } from './connection.js'
import { snapshotStatement } from './dialect.js'
import { mysqlError } from './errors.js'
import { isHostDown, translated } from './failures.js'
import type { Pool } from './pool.js'
import { now, pause, until } from './time.js'

const PAUSE_MS = 20

/** A statement that waits for the state. The first one is sent together with the start of the transaction. */
interface Waiting {
  readonly sql: string
  readonly resolve: (rows: Row[]) => void
  readonly reject: (error: unknown) => void
}

export class State implements BackendSnapshot {
  /** Settles, and never rejects, when the server has taken the state, or when it is clear that it will not. */
  readonly started: Promise<void>
  readonly #pool: Pool
  readonly #deadlineMs: number
  #connection: Connection | undefined
  #error: unknown
  #waiting: Waiting[] = []
  #users = 1
  #isSent = false

  constructor(pool: Pool, deadlineMs: number) {
    this.#pool = pool
    this.#deadlineMs = deadlineMs
    this.started = this.#start(now() + deadlineMs)
  }

  /** Whether the state may have been taken by now, so that it is too late for others to share it. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether it is not closed and, as far as is known, can be read from. */
  get isUsable(): boolean {
    return this.#users > 0 && this.#error === undefined && this.#connection?.isBroken !== true
  }

  /** Keeps the state for one more user, who must also close it. */
  share(): this {
    this.#users++
    return this
  }

  async #start(end: number): Promise<void> {
    try {
      const [connection, first, rows] = await this.#begin(end)
      this.#connection = connection
      first?.resolve(rows)
      for (const { sql, resolve, reject } of this.#waiting.splice(0)) this.query(sql).then(resolve, reject)
      if (this.#users === 0) this.#release()
    } catch (error) {
      this.#error = error
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    } finally {
      this.#isSent = true
    }
  }

  /** Takes the state on any host: it has not been read from yet, so the host does not matter. */
  async #begin(end: number): Promise<[Connection, Waiting | undefined, Row[]]> {
    for (;;) {
      const connection = await this.#pool.acquire('hold', end)
      this.#isSent = true
      const first = this.#waiting[0]
      const begin = snapshotStatement(connection.settings)
      try {
        const results = await connection.query(first === undefined ? begin : `${begin};${first.sql}`, end)
        if (first !== undefined) this.#waiting.shift()
        return [connection, first, (results as Row[][]).at(-1) as Row[]]
      } catch (error) {
        const isDown = connection.isBroken || isHostDown(error)
        if (isDown) this.#pool.hostFailed(connection.host)
        connection.destroy()
        if (!isDown || until(end) <= PAUSE_MS) throw translated(error)
        await pause(PAUSE_MS)
      }
    }
  }

  /**
   * Returns the rows that a statement finds in this state.
   *
   * @throws LEVEL_SNAPSHOT_LOST, LEVEL_DEADLINE and others
   */
  async query(sql: string): Promise<Row[]> {
    if (this.#error !== undefined) throw this.#error
    const connection = this.#connection
    if (connection === undefined) {
      return new Promise((resolve, reject) => this.#waiting.push({ sql, resolve, reject }))
    }
    if (connection.isBroken) throw lost(undefined)
    try {
      return await connection.rows(sql, now() + this.#deadlineMs)
    } catch (error) {
      if (!isHostDown(error)) throw translated(error)
      this.#pool.hostFailed(connection.host)
      throw lost(error)
    }
  }

  /** Gives up the state immediately. Running reads fail. */
  abort(): void {
    this.#connection?.destroy()
  }

  /** Gives up the state once its last user has closed it. */
  close(): void {
    if (--this.#users === 0) this.#release()
  }

  #release(): void {
    const connection = this.#connection
    if (connection === undefined || connection.isBroken) return
    // The transaction must not outlive its state: the server would keep all data deleted since.
    connection.query('COMMIT', now() + this.#deadlineMs).then(
      () => this.#pool.release(connection),
      () => connection.destroy()
    )
  }
}

function lost(cause: unknown): Error {
  return mysqlError(
    'LEVEL_SNAPSHOT_LOST',
    'The connection that held this state broke, and the state is lost: make a new snapshot or iterator, or repeat getMany()',
    cause
  )
}

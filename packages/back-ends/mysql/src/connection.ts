/** One connection to a server. Each statement on it has a deadline, after which the connection is no more. */

import type { Socket } from 'node:net'
import { createConnection, type Connection as RawConnection } from 'mysql2'
import {
  ASK_SETTINGS,
  type ServerSettings,
  type SessionOptions,
  sessionStatement,
  settingsOf
} from './dialect.js'
import { deadlineError, Failure, isHostDown, isLost } from './failures.js'
import { type Host, nameOf, type Target } from './target.js'
import { until } from './time.js'

/** A row: its columns in order. */
export type Row = ReadonlyArray<Buffer | number | null>

/** A statement whose values travel apart from it, as bytes. */
export interface Prepared {
  readonly sql: string
  readonly values: ReadonlyArray<Buffer | number>
}

type Callback = (error: unknown, result?: unknown) => void

/** How many prepared statements a connection keeps. */
const MAX_PREPARED = 16

export class Connection {
  readonly host: Host
  /** Called once, when the connection is no longer of use. */
  onBroken: (() => void) | undefined
  readonly #raw: RawConnection
  #settings: ServerSettings | undefined
  #isBroken = false

  private constructor(host: Host, raw: RawConnection) {
    this.host = host
    this.#raw = raw
    raw.on('error', () => this.destroy())
    raw.on('end', () => this.destroy())
  }

  /** Connects, logs in, and sets the session up, all until `end`. */
  static async connect(
    target: Target,
    host: Host,
    session: SessionOptions,
    end: number
  ): Promise<Connection> {
    const raw = createConnection({
      ...target.loginTo(host),
      charset: 'BINARY',
      // Several statements in one packet save their journeys. Users' data in them is escaped in one place: literals.ts.
      multipleStatements: true,
      flags: ['-LOCAL_FILES', '-FOUND_ROWS'],
      rowsAsArray: true,
      supportBigNumbers: true,
      maxPreparedStatements: MAX_PREPARED,
      enableKeepAlive: true,
      // The deadline is kept here.
      connectTimeout: 0
    })
    const connection = new Connection(host, raw)
    try {
      await connection.#run('Connecting', end, (callback) => raw.connect(callback))
      connection.#settings = settingsOf(await connection.rows(ASK_SETTINGS, end))
      await connection.query(sessionStatement(connection.settings, session), end)
      // While something runs, its deadline keeps the program alive; a database that is open does not.
      connection.#stream.unref()
      return connection
    } catch (error) {
      connection.destroy()
      throw error
    }
  }

  get #stream(): Socket {
    return (this.#raw as unknown as { stream: Socket }).stream
  }

  get settings(): ServerSettings {
    return this.#settings as ServerSettings
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Runs statements, and returns the result, or an array of results if there are several. */
  query(sql: string, end: number): Promise<unknown> {
    return this.#run('The statement', end, (callback) => this.#raw.query(sql, callback))
  }

  /** Runs a statement that returns rows. */
  rows(sql: string, end: number): Promise<Row[]> {
    return this.query(sql, end) as Promise<Row[]>
  }

  execute({ sql, values }: Prepared, end: number): Promise<unknown> {
    return this.#run('The statement', end, (callback) => this.#raw.execute(sql, values as never, callback))
  }

  #run(what: string, end: number, send: (callback: Callback) => void): Promise<unknown> {
    if (this.#isBroken) return Promise.reject(lostError(this.host))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        // The server may hang, so it is not asked to stop.
        this.destroy()
        reject(deadlineError(what, new Failure(`${nameOf(this.host)} has not answered`, 'ETIMEDOUT')))
      }, until(end))
      send((error, result) => {
        clearTimeout(timer)
        if (!error) return resolve(result)
        const failure = Failure.of(error)
        if (isLost(failure) || isHostDown(failure)) this.destroy()
        reject(failure)
      })
    })
  }

  /** Breaks the connection. What runs on it fails. */
  destroy(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#stream.destroy()
    this.onBroken?.()
  }

  /** Takes leave of the server. */
  end(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#raw.end(() => {})
  }
}

function lostError(host: Host): Failure {
  return new Failure(`The connection to ${nameOf(host)} is lost`, 'PROTOCOL_CONNECTION_LOST')
}

/** A server: its listeners, its connections, its sessions. */

import { timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CodedError } from 'terrace-core'
import { netError } from '../protocol/errors.js'
import { timerMs } from '../protocol/timer.js'
import { isLoopback, noUser, parseAddress } from '../transport/address.js'
import type { Transport } from '../transport/transport.js'
import { type Authenticate, asksForTokens, authentication } from './authentication.js'
import { Budget } from './budget.js'
import { Calls } from './calls.js'
import { DatabaseWrites } from './database-writes.js'
import type { ServedFeed } from './feed-source.js'
import { checkExposed, type Listener, listen } from './listener.js'
import { listenForMetrics } from './metrics-listener.js'
import {
  defaultLimits,
  type Limits,
  type Method,
  type Peer,
  type ServerOptions,
  type User
} from './options.js'
import { ownerMethods } from './owner-methods.js'
import { allPermissions, type Permissions } from './permissions.js'
import { databaseOf, prefixOf } from './place.js'
import { Reads } from './reads.js'
import { handlers } from './requests.js'
import { permissionsOf, rights, serverOptionsOf } from './schema.js'
import { type Servable, ServedDatabase } from './served-database.js'
import { type ConnectionHost, ServerConnection } from './server-connection.js'
import { Session } from './session.js'
import { type ServerStatistics, Statistics } from './statistics.js'
import type { Subscription } from './subscription.js'
import type { WriteSource } from './watching.js'

/** How often connections are checked, unless the limits are short. */
const CHECK_MS = 1000

/** How long clients may take to end their connections once the server closes, so that everything they sent is answered. */
const LINGER_MS = 1000

/** How long connections may then take to send the rest. */
const CLOSE_MS = 5000

/** What the owner of the database knows about it beyond its object. */
interface Own {
  /** Reports the writes to it. */
  readonly writes?: WriteSource
  /** Its identity. */
  readonly database?: string
}

/** A server for a database. It is created by {@link createServer}. */
export class Server {
  readonly #host: ServerHost
  readonly #options: ServerOptions
  readonly #listeners: Listener[] = []
  #closing: Promise<void> | undefined
  readonly #metricsListeners: Listener[] = []

  /**
   * @internal
   * @param own - What the database object itself does not provide.
   */
  constructor(db: Servable, options: ServerOptions, own: Own = {}) {
    this.#options = options
    this.#host = new ServerHost(db, options, own)
  }

  /** The addresses that the server listens on. */
  get addresses(): string[] {
    return this.#listeners.map(({ address }) => address)
  }

  /**
   * Starts listening on an address: `unix:PATH`, `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST:PORT/PATH` or `wss://…`. A port
   * of 0 lets the system choose. May be called for several addresses.
   *
   * @returns The address, with the port that was chosen.
   * @throws NET_INVALID if it is not an address, or if programs on other machines could use the database without restrictions.
   * @throws NET_CLOSING if the server is closed.
   */
  async listen(address: string): Promise<string> {
    const parsed = parseAddress(address)
    // It would appear wherever the server's address does.
    if ('url' in parsed && parsed.url.username + parsed.url.password !== '') throw noUser(address)
    const { insecure = false, origins = [], tls = {} } = this.#options
    const isOpenToAll = !asksForTokens(this.#options) && !insecure
    checkExposed(parsed, isOpenToAll, isLoopback)
    this.#checkNotClosed()
    await this.#host.open()
    const { connections, helloMs } = this.#host.limits
    const listener = await listen(parsed, {
      tls,
      maxConnections: connections,
      helloMs,
      // Any page in a browser on this machine could connect as a local program, so without tokens its origin is checked.
      origins: isOpenToAll ? origins : 'all',
      accept: (transport) => this.#host.accept(transport, address)
    })
    return this.#keep(listener, this.#listeners)
  }

  /**
   * Returns counts since the server was created, and the numbers of open connections, sessions and the like, as a plain object
   * for JSON.
   */
  statistics(): ServerStatistics {
    return this.#host.read()
  }

  /**
   * Serves {@link statistics} over HTTP until the server is closed: `/metrics` for Prometheus and `/metrics.json`. There is no
   * authentication.
   *
   * @param address - `HOST:PORT`. A port of 0 lets the system choose.
   * @returns The URL where the statistics are served: `http://HOST:PORT`.
   * @throws NET_INVALID if it is not an address, or if other machines could reach it and `insecure` is not set.
   */
  async serveMetrics(address: string): Promise<string> {
    const isInsecure = this.#options.insecure === true
    this.#checkNotClosed()
    const listener = await listenForMetrics(address, isInsecure, () => this.statistics())
    return this.#keep(listener, this.#metricsListeners)
  }

  /** Adds a listener, unless the server was closed meanwhile. */
  async #keep(listener: Listener, listeners: Listener[]): Promise<string> {
    if (this.#closing === undefined) {
      listeners.push(listener)
      return listener.address
    }
    const closed = listener.close()
    listener.destroy()
    await closed
    throw closedServer()
  }

  #checkNotClosed(): void {
    if (this.#closing !== undefined) throw closedServer()
  }

  /**
   * Stops the server: it accepts nothing more, finishes all received requests, sends the results and ends the connections. The
   * database stays open. The server does not wait for methods that run for longer than `limits.closeMs`: their callers get
   * NET_WRITE_UNKNOWN.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const listeners = this.#listeners.splice(0)
    const closing = listeners.map((listener) => listener.close())
    await this.#host.close()
    for (const listener of listeners) listener.destroy()
    closing.push(...this.#metricsListeners.splice(0).map((listener) => listener.close()))
    await Promise.all(closing)
  }
}

/**
 * Creates a server for a database or sublevel of abstract-level. The server starts serving when {@link Server.listen} is called.
 * Without `tokens` or `authenticate`, any client that can connect may do everything, so the server then listens only for programs
 * on the same machine.
 *
 * @throws NET_INVALID if an option is unknown or invalid.
 */
export function createServer(db: Servable, options: ServerOptions = {}): Server {
  return new Server(db, serverOptionsOf(options, Object.keys(defaultLimits)))
}

function closedServer(): Error {
  return netError('NET_CLOSING', 'The server is closed: make another one')
}

function countOf(subscriptions: ReadonlyMap<number, Subscription>, subject: Subscription['subject']): number {
  let count = 0
  for (const each of subscriptions.values()) if (each.subject === subject && !each.isOver) count++
  return count
}

function isSameUser(a: User | null, b: User | null): boolean {
  return a?.name === b?.name && isDeepStrictEqual(a?.permissions, b?.permissions)
}

/** A user who has, or had, sessions. */
interface UserRecord {
  readonly budget: Budget
  sessions: number
}

class ServerHost implements ConnectionHost {
  readonly served: ServedDatabase
  readonly limits: Limits
  readonly methods: Readonly<Record<string, Method>>
  readonly localMethods: Readonly<Record<string, Method>>
  readonly calls = new Calls()
  readonly feeds: Readonly<Record<string, ServedFeed>>
  readonly writes: WriteSource
  readonly authenticate: Authenticate
  readonly permissions: Permissions
  readonly statistics = new Statistics(handlers)
  isClosing = false
  /** The identity of the database, or undefined if it has none. */
  #database: string | undefined
  readonly budget: Budget
  readonly reads: Reads
  readonly #users = new Map<string, UserRecord>()
  readonly #options: ServerOptions
  readonly #connections = new Set<ServerConnection>()
  readonly #sessions = new Set<Session>()
  readonly #timer: NodeJS.Timeout
  #empty: (() => void) | undefined

  constructor(db: Servable, options: ServerOptions, own: Own) {
    this.served = new ServedDatabase(db)
    this.#database = own.database
    this.limits = { ...defaultLimits, ...options.limits }
    this.budget = new Budget(this.limits.serverBytes)
    this.reads = new Reads(this.limits.serverBytes / 2)
    this.methods = options.methods ?? {}
    this.localMethods = { ...ownerMethods(this.served.db), ...this.methods }
    this.feeds = options.feeds ?? {}
    this.writes = own.writes ?? new DatabaseWrites(db)
    this.authenticate = authentication(options)
    this.permissions = permissionsOf(options.permissions ?? allPermissions, 'permissions')
    this.#options = options
    const { helloMs, silenceMs, stallMs } = this.limits
    const checkMs = Math.min(CHECK_MS, helloMs / 2, silenceMs / 2, stallMs / 2)
    this.#timer = setInterval(() => this.#check(), checkMs)
    this.#timer.unref()
  }

  /** Opens the database and determines its identity. */
  async open(): Promise<void> {
    await this.served.db.open()
    this.#database ??= databaseOf(this.served.db)
  }

  accept(transport: Transport, listener: string): void {
    const connection = new ServerConnection(this, transport, listener)
    this.statistics.acceptedConnections++
    if (this.isClosing || this.#connections.size >= this.limits.connections) {
      this.warn(netError('NET_LIMIT', 'Too many connections'), connection.peer)
      connection.destroy()
    }
    this.#connections.add(connection)
  }

  forget(connection: ServerConnection): void {
    if (!this.#connections.delete(connection)) return
    this.statistics.receivedBytes += connection.receivedBytes
    this.statistics.sentBytes += connection.sentBytes
    if (this.#connections.size === 0) this.#empty?.()
  }

  beginSession(user: User | null): Session {
    if (this.#sessions.size >= this.limits.sessions) {
      throw netError('NET_LIMIT', `The server has ${this.limits.sessions} sessions already`)
    }
    const { sessionBytes, userBytes, userSessions } = this.limits
    const record = user === null ? undefined : this.#users.get(user.name)
    if (record !== undefined && record.sessions >= userSessions) {
      throw netError('NET_LIMIT', `This user has ${userSessions} sessions already`)
    }
    let { budget } = this
    if (user !== null) {
      budget = record?.budget ?? new Budget(userBytes, budget)
      this.#users.set(user.name, { budget, sessions: (record?.sessions ?? 0) + 1 })
    }
    const session = new Session(this, user, new Budget(sessionBytes, budget))
    this.#sessions.add(session)
    return session
  }

  endSession(session: Session): void {
    if (!this.#sessions.delete(session)) return
    session.end()
    const name = session.user?.name
    const record = name === undefined ? undefined : this.#users.get(name)
    if (record !== undefined) record.sessions--
  }

  sessionOf(ticket: Uint8Array | undefined, user: User | null): Session | undefined {
    if (ticket === undefined) return undefined
    for (const session of this.#sessions) {
      const isIt = ticket.length === session.ticket.length && timingSafeEqual(ticket, session.ticket)
      if (isIt) return isSameUser(session.user, user) ? session : undefined
    }
    return undefined
  }

  welcome({ guard, methods, user }: Session): object {
    const { db } = this.served
    const { encodings, explicitSnapshots, permanence } = db.supports
    return {
      server: 'terrace-net',
      user: user?.name ?? null,
      manifest: {
        encodings,
        explicitSnapshots,
        permanence,
        conditionalWrites: this.served.hasConditionalWrites,
        versions: this.served.hasVersions
      },
      maxMessageBytes: this.limits.messageBytes,
      maxBatchOperations: this.limits.batchOperations,
      database: this.#database ?? null,
      prefix: prefixOf(db),
      rights: rights.filter((right) => guard.allowsAll(right)),
      methods: Object.keys(methods).filter((name) => guard.allowsMethod(name))
    }
  }

  warn(warning: Error, peer: Peer): void {
    this.statistics.refused((warning as Partial<CodedError<string>>).code ?? 'NET_FAILED')
    this.#options.onWarning?.(warning, peer)
  }

  /** Returns the statistics, including what is open now. */
  read(): ServerStatistics {
    const sessions = [...this.#sessions]
    const connections = [...this.#connections]
    const sum = <T>(list: T[], count: (each: T) => number): number =>
      list.reduce((all, each) => all + count(each), 0)
    const counted = this.statistics.read(
      {
        connections: connections.length,
        sessions: sessions.length,
        iterators: sum(sessions, ({ cursors }) => cursors.size),
        snapshots: sum(sessions, ({ snapshots }) => snapshots.size),
        watches: sum(sessions, ({ subscriptions }) => countOf(subscriptions, 'writes')),
        changes: sum(sessions, ({ subscriptions }) => countOf(subscriptions, 'feed'))
      },
      this.budget.heldBytes
    )
    return {
      ...counted,
      receivedBytes: counted.receivedBytes + sum(connections, ({ receivedBytes }) => receivedBytes),
      sentBytes: counted.sentBytes + sum(connections, ({ sentBytes }) => sentBytes)
    }
  }

  /** Finishes all received requests and ends all connections. */
  async close(): Promise<void> {
    this.isClosing = true
    clearInterval(this.#timer)
    const patience = setTimeout(() => this.calls.giveUp(), timerMs(this.limits.closeMs))
    await Promise.all([...this.#sessions].map((session) => session.idle()))
    clearTimeout(patience)
    for (const connection of this.#connections) connection.announceEnd()
    await this.#isEmpty(LINGER_MS)
    for (const connection of this.#connections) connection.end()
    await this.#isEmpty(CLOSE_MS)
    for (const connection of this.#connections) connection.destroy()
    await Promise.all([...this.#sessions].map((session) => session.end()))
    this.#sessions.clear()
  }

  #isEmpty(timeoutMs: number): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#empty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#connections) connection.check(now)
    // A connection may hold something for a while after its session has ended.
    for (const [name, { budget, sessions }] of this.#users) {
      if (sessions === 0 && budget.heldBytes === 0) this.#users.delete(name)
    }
  }
}

/** A server: its listeners, its connections, its sessions. */

import { timingSafeEqual } from 'node:crypto'
import { netError } from '../protocol/errors.js'
import { isLoopback, parseAddress } from '../transport/address.js'
import type { Transport } from '../transport/transport.js'
import { type Authenticate, asksForTokens, authentication } from './authentication.js'
import type { ServedFeed } from './feed-source.js'
import { checkExposed, type Listener, listen } from './listener.js'
import {
  defaultLimits,
  type Limits,
  type Method,
  type Peer,
  type ServerOptions,
  type User
} from './options.js'
import { type AnyLevel, ServedDatabase } from './served-database.js'
import { ServerConnection } from './server-connection.js'
import { Session } from './session.js'
import { WriteSource } from './write-source.js'

/** How often connections are looked at. */
const CHECK_MS = 1000

/** How long connections may take to send what they have once the server closes. */
const CLOSE_MS = 5000

/** What sessions and connections need of the server. */
export interface Host {
  readonly served: ServedDatabase
  readonly limits: Limits
  readonly methods: Readonly<Record<string, Method>>
  readonly feeds: Readonly<Record<string, ServedFeed>>
  readonly writes: WriteSource
  readonly isClosing: boolean
  readonly authenticate: Authenticate
  beginSession(user: User | null): Session
  endSession(session: Session): void
  /** The session that a client had before, if it is still there and belongs to the same user. */
  sessionOf(ticket: Uint8Array | undefined, user: User | null): Session | undefined
  /** What a new client is told. */
  welcome(user: User | null): object
  warn(warning: Error, peer: Peer): void
  forget(connection: ServerConnection): void
}

/** Serves a database. {@link createServer} makes one. */
export class Server {
  readonly #host: ServerHost
  readonly #options: ServerOptions
  readonly #listeners: Listener[] = []

  /** @internal */
  constructor(db: AnyLevel, options: ServerOptions) {
    this.#options = options
    this.#host = new ServerHost(db, options)
  }

  /** Where the server listens. */
  get addresses(): string[] {
    return this.#listeners.map(({ address }) => address)
  }

  /**
   * Begins to listen on an address: `unix:PATH`, `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST:PORT/PATH` or `wss://…`. A port
   * of 0 lets the system choose. May be called for several addresses.
   *
   * @returns The address, with the port that was chosen.
   * @throws NET_INVALID if it is no address, or if others than programs of this machine could do whatever they want.
   */
  async listen(address: string): Promise<string> {
    const parsed = parseAddress(address)
    const { insecure, tls = {} } = this.#options
    checkExposed(parsed, !asksForTokens(this.#options) && insecure !== true, isLoopback)
    await this.#host.served.db.open()
    const { messageBytes } = this.#host.limits
    const listener = await listen(parsed, tls, messageBytes, (transport) =>
      this.#host.accept(transport, address)
    )
    this.#listeners.push(listener)
    return listener.address
  }

  /**
   * Stops: accepts nothing more, finishes what clients have asked for, sends the results and ends the connections. The database
   * stays open.
   */
  async close(): Promise<void> {
    const closing = this.#listeners.splice(0).map((listener) => listener.close())
    await this.#host.close()
    await Promise.all(closing)
  }
}

/**
 * Makes a server for a database or sublevel of abstract-level, which begins to serve with {@link Server.listen}. Without `tokens` or
 * `authenticate`, whoever can connect may do everything; then it listens for programs of the same machine only.
 */
export function createServer(db: AnyLevel, options: ServerOptions = {}): Server {
  return new Server(db, options)
}

class ServerHost implements Host {
  readonly served: ServedDatabase
  readonly limits: Limits
  readonly methods: Readonly<Record<string, Method>>
  readonly feeds: Readonly<Record<string, ServedFeed>>
  readonly writes: WriteSource
  readonly authenticate: Authenticate
  isClosing = false
  readonly #options: ServerOptions
  readonly #connections = new Set<ServerConnection>()
  readonly #sessions = new Set<Session>()
  readonly #timer: NodeJS.Timeout
  #empty: (() => void) | undefined

  constructor(db: AnyLevel, options: ServerOptions) {
    this.served = new ServedDatabase(db)
    this.limits = { ...defaultLimits, ...options.limits }
    this.methods = options.methods ?? {}
    this.feeds = options.feeds ?? {}
    this.writes = new WriteSource(db)
    this.authenticate = authentication(options)
    this.#options = options
    this.#timer = setInterval(() => this.#check(), CHECK_MS)
    this.#timer.unref()
  }

  accept(transport: Transport, listener: string): void {
    const connection = new ServerConnection(this, transport, listener)
    if (this.isClosing || this.#connections.size >= this.limits.connections) {
      this.warn(netError('NET_LIMIT', 'Too many connections'), connection.peer)
      connection.destroy()
    }
    this.#connections.add(connection)
  }

  forget(connection: ServerConnection): void {
    this.#connections.delete(connection)
    if (this.#connections.size === 0) this.#empty?.()
  }

  beginSession(user: User | null): Session {
    if (this.#sessions.size >= this.limits.sessions) {
      throw netError('NET_LIMIT', `The server has ${this.limits.sessions} sessions already`)
    }
    const session = new Session(this, user)
    this.#sessions.add(session)
    return session
  }

  endSession(session: Session): void {
    this.#sessions.delete(session)
    session.end()
  }

  sessionOf(ticket: Uint8Array | undefined, user: User | null): Session | undefined {
    if (ticket === undefined) return undefined
    for (const session of this.#sessions) {
      const isIt = ticket.length === session.ticket.length && timingSafeEqual(ticket, session.ticket)
      if (isIt && session.user?.name === user?.name) return session
    }
    return undefined
  }

  welcome(user: User | null): object {
    const { encodings, explicitSnapshots, permanence } = this.served.db.supports
    return {
      server: 'terrace-net',
      user: user?.name ?? null,
      manifest: { encodings, explicitSnapshots, permanence },
      maxMessageBytes: this.limits.messageBytes
    }
  }

  warn(warning: Error, peer: Peer): void {
    this.#options.onWarning?.(warning, peer)
  }

  /** Finishes what was asked for, and ends all connections. */
  async close(): Promise<void> {
    this.isClosing = true
    clearInterval(this.#timer)
    await Promise.all([...this.#sessions].map((session) => session.idle()))
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
  }
}

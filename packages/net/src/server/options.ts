/** The options of a server. */

import type { TlsOptions } from 'node:tls'
import type { ServedFeed } from './feed-source.js'
import type { Permissions } from './permissions.js'

/** A user, as authentication found it. */
export interface User {
  readonly name: string
  /** What the user may do. By default, {@link ServerOptions.permissions} apply. */
  readonly permissions?: Permissions
}

/** The origin of a connection. */
export interface Peer {
  /** The address of the client, for display. */
  readonly address: string
  /** Where the server listens, as given to `listen()`. */
  readonly listener: string
}

/** Limits on what clients may use. Exceeding one is an error for that client only. */
export interface Limits {
  /** Connections at once, including those that are not authenticated yet. @defaultValue 10,000 */
  readonly connections: number
  /** Sessions at once, including those without a connection. @defaultValue 10,000 */
  readonly sessions: number
  /**
   * Sessions of one user at once, so that one user cannot lock out all others. Clients without a token are not counted.
   * @defaultValue 1,000
   */
  readonly userSessions: number
  /** The largest message in bytes: a value, a batch, or the values of one `getMany()`. @defaultValue 64 MiB */
  readonly messageBytes: number
  /** Operations in a batch, or keys in a `getMany()`. @defaultValue 100,000 */
  readonly batchOperations: number
  /** Open iterators of a session. @defaultValue 1,000 */
  readonly iterators: number
  /** Open snapshots of a session. @defaultValue 100 */
  readonly snapshots: number
  /** Subscriptions of a session. @defaultValue 100 */
  readonly subscriptions: number
  /** Requests of a session that are processed at once. More wait in the connection. @defaultValue 256 */
  readonly requestsAtOnce: number
  /**
   * Requests of a session per second, on average; a second's worth may arrive at once. More wait in the connection. A batch or a
   * page of an iterator is one request. @defaultValue no limit
   */
  readonly requestsPerSecond: number
  /**
   * Results that wait for a slow client, in bytes; 256 KiB or more. Beyond that, its next requests wait in the connection.
   * @defaultValue 4 MiB
   */
  readonly unsentBytes: number
  /**
   * How much memory one session may make the server hold, in bytes. Half of it is for work: messages that are being received,
   * requests, and unsent results. Beyond that, the connection is not read, and results of reads are dropped and read again once
   * there is room. The other half is for what is kept until the client acknowledges it, such as events. Data that finds no room
   * there is refused: a subscription ends with NET_MISSED, a new iterator fails with NET_LIMIT, and the result of a call is not
   * kept for another connection.
   *
   * @defaultValue 128 MiB
   */
  readonly sessionBytes: number
  /** Likewise for all sessions of one user together. @defaultValue 256 MiB */
  readonly userBytes: number
  /** Likewise for all clients together. @defaultValue 1 GiB */
  readonly serverBytes: number
  /** Events that wait for a slow subscriber, in bytes. Beyond that, the subscription ends. @defaultValue 4 MiB */
  readonly unsentEventBytes: number
  /** How long a client may take to identify itself, in ms. @defaultValue 10,000 */
  readonly helloMs: number
  /** How long a client may be silent, in ms; clients send a ping every 10 s. @defaultValue 60,000 */
  readonly silenceMs: number
  /**
   * How long a client may read none of its results, or leave a message unfinished while others wait for room, in ms. @defaultValue
   * 60,000
   */
  readonly stallMs: number
  /** How long a session is kept without a connection, in ms. @defaultValue 30,000 */
  readonly sessionMs: number
  /**
   * How long a closing server waits for methods that clients have called, in ms. After that, the callers get NET_WRITE_UNKNOWN, and
   * the methods keep running unobserved. Reads and writes are always waited for. @defaultValue 10,000
   */
  readonly closeMs: number
}

export const defaultLimits: Limits = {
  connections: 10_000,
  sessions: 10_000,
  userSessions: 1000,
  messageBytes: 64 << 20,
  batchOperations: 100_000,
  iterators: 1000,
  snapshots: 100,
  subscriptions: 100,
  requestsAtOnce: 256,
  requestsPerSecond: Number.POSITIVE_INFINITY,
  unsentBytes: 4 << 20,
  sessionBytes: 128 << 20,
  userBytes: 256 << 20,
  serverBytes: 1 << 30,
  unsentEventBytes: 4 << 20,
  helloMs: 10_000,
  silenceMs: 60_000,
  stallMs: 60_000,
  sessionMs: 30_000,
  closeMs: 10_000
}

/** A method that clients may call. Arguments and results are bytes or anything that JSON can hold. */
export type Method = (this: { readonly user: User | null }, ...args: never[]) => unknown

export interface ServerOptions {
  /** Users, by the tokens that authenticate them. */
  readonly tokens?: Readonly<Record<string, User>>
  /** Authenticates a client. Returns null to refuse it. If the function throws, its error is not sent to the client. */
  readonly authenticate?: (token: string | undefined, peer: Peer) => User | null | Promise<User | null>
  /**
   * What clients may do by default: users without permissions, and all clients if the server requires no token. @defaultValue
   * everything
   */
  readonly permissions?: Permissions
  /** Lets all clients connect without a token, on addresses other than loopback as well. @defaultValue false */
  readonly insecure?: boolean
  /**
   * The origins of web pages that may connect by WebSocket, such as `http://localhost:3000`. Without tokens, a page of any other
   * origin is refused: otherwise, every page open in a browser on this machine could use the database. A server that requires
   * tokens, or is `insecure`, accepts clients of every origin.
   *
   * @defaultValue none
   */
  readonly origins?: readonly string[]
  /** Methods that clients may call by name. */
  readonly methods?: Readonly<Record<string, Method>>
  /**
   * Feeds that clients may read by name: open feeds of terrace-toolbox. They stay open when the server closes. Close the server
   * before its feeds, so that clients resume with the next server; otherwise they get an error.
   */
  readonly feeds?: Readonly<Record<string, ServedFeed>>
  readonly limits?: Partial<Limits>
  /** Options of Node's `tls.createServer()`, for addresses with `tls:` and `wss:`. */
  readonly tls?: TlsOptions
  /** Receives each connection that was refused or broken off. Without it, nothing is logged. */
  readonly onWarning?: (warning: Error, peer: Peer) => void
}

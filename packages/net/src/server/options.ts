/** The options of a server. */

import type { TlsOptions } from 'node:tls'
import type { ServedFeed } from './feed-source.js'
import type { Permissions } from './permissions.js'

/** An authenticated user. */
export interface User {
  readonly name: string
  /** The user's permissions. By default, {@link ServerOptions.permissions} apply. */
  readonly permissions?: Permissions
}

/** The origin of a connection. */
export interface Peer {
  /** The address of the client, for display. */
  readonly address: string
  /** The address on which the client connected, as passed to `listen()`. */
  readonly listener: string
}

/** Limits on what clients may use. Exceeding one is an error for that client only. */
export interface Limits {
  /** The maximum number of concurrent connections, including those that are not authenticated yet. @defaultValue 10,000 */
  readonly connections: number
  /** The maximum number of concurrent sessions, including those without a connection. @defaultValue 10,000 */
  readonly sessions: number
  /**
   * The maximum number of concurrent sessions of one user, so that one user cannot lock out all others. Clients without a token
   * are not counted.
   * @defaultValue 1,000
   */
  readonly userSessions: number
  /** The maximum size of a message, in bytes: a value, a batch, or the values of one `getMany()`. @defaultValue 64 MiB */
  readonly messageBytes: number
  /**
   * The maximum number of operations in a batch, and of keys in a `getMany()`. A condition counts as two operations, and one on a
   * range as four.
   * @defaultValue 100,000
   */
  readonly batchOperations: number
  /** The maximum number of open iterators per session. @defaultValue 1,000 */
  readonly iterators: number
  /** The maximum number of open snapshots per session. @defaultValue 100 */
  readonly snapshots: number
  /** The maximum number of subscriptions per session. @defaultValue 100 */
  readonly subscriptions: number
  /**
   * The maximum number of requests of a session that are processed at once. Further requests wait in the connection.
   * @defaultValue 256
   */
  readonly requestsAtOnce: number
  /**
   * The maximum number of requests of a session per second, on average; a second's worth may arrive at once. Further requests
   * wait in the connection. A batch or a page of an iterator is one request. @defaultValue no limit
   */
  readonly requestsPerSecond: number
  /**
   * The maximum size of the results that wait for a slow client, in bytes; at least 256 KiB. Beyond that, the client's next
   * requests wait in the connection.
   * @defaultValue 4 MiB
   */
  readonly unsentBytes: number
  /**
   * The maximum memory that the server holds for one session, in bytes. Half of it is for work: messages that are being received,
   * requests, and unsent results. Beyond that, the server does not read from the connection, and it drops the results of reads
   * and reads them again once there is room. The other half is for data that is kept until the client acknowledges it, such as
   * events. Data for which there is no room is refused: a subscription ends with NET_MISSED, a new iterator fails with NET_LIMIT,
   * and the result of a call is not kept for another connection.
   *
   * @defaultValue 128 MiB
   */
  readonly sessionBytes: number
  /** The same limit as `sessionBytes`, for all sessions of one user together. @defaultValue 256 MiB */
  readonly userBytes: number
  /** The same limit as `sessionBytes`, for all clients together. @defaultValue 1 GiB */
  readonly serverBytes: number
  /**
   * The maximum size of the events that wait for a slow subscriber, in bytes. Beyond that, the subscription ends.
   * @defaultValue 4 MiB
   */
  readonly unsentEventBytes: number
  /** How long a client may take to identify itself, in ms. @defaultValue 10,000 */
  readonly helloMs: number
  /** How long a client may be silent, in ms; clients send a ping every 10 s. @defaultValue 60,000 */
  readonly silenceMs: number
  /**
   * How long a client may leave its results unread, or a message unfinished while others wait for room, in ms.
   * @defaultValue 60,000
   */
  readonly stallMs: number
  /** How long a session is kept without a connection, in ms. @defaultValue 30,000 */
  readonly sessionMs: number
  /**
   * How long a closing server waits for methods that clients have called, in ms. After that, the callers get NET_WRITE_UNKNOWN,
   * and the methods keep running unobserved. The server always waits for reads and writes. @defaultValue 10,000
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

/** A method that clients may call. Arguments and results are bytes or anything that JSON can represent. */
export type Method = (this: { readonly user: User | null }, ...args: never[]) => unknown

/** Options of `createServer()`. */
export interface ServerOptions {
  /** The users, by the tokens that authenticate them. */
  readonly tokens?: Readonly<Record<string, User>>
  /** Authenticates a client. Returns null to refuse it. If the function throws, its error is not sent to the client. */
  readonly authenticate?: (token: string | undefined, peer: Peer) => User | null | Promise<User | null>
  /**
   * The default permissions. They apply to users without permissions, and to all clients if the server requires no token.
   * @defaultValue everything
   */
  readonly permissions?: Permissions
  /** Whether all clients may connect without a token, on addresses other than loopback as well. @defaultValue false */
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
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<Limits>
  /** Options of Node's `tls.createServer()`, for addresses with `tls:` and `wss:`. */
  readonly tls?: TlsOptions
  /** Called for each connection that was refused or broken off. Without this function, nothing is logged. */
  readonly onWarning?: (warning: Error, peer: Peer) => void
}

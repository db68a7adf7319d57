import type { AbstractDatabaseOptions } from 'abstract-level'
import {
  assertOpen,
  BackendLevel,
  type Encodings,
  type EventIterator,
  type WatchedWrites,
  type WatchOptions
} from 'terrace-core'
import { Ask } from '../protocol/messages.js'
import { Changes, type ChangesOptions, type FeedChange } from './changes.js'
import { fixedAddress } from './connect.js'
import { Decoding } from './decoding.js'
import { Link, type LinkOptions } from './link.js'
import { NetBackend } from './net-backend.js'
import { netCall } from './net-call.js'
import { subscribe, watch } from './subscribe.js'

/** Options of {@link NetLevel}. */
export interface NetLevelOptions<K, V> extends LinkOptions, AbstractDatabaseOptions<K, V> {}

// biome-ignore lint/suspicious/noExplicitAny: a method may have any arguments
type Methods = Record<string, (...args: any[]) => unknown>

/**
 * A database that a server shares with its clients. It has abstract-level's API, sublevels and hooks. Hooks run in this process,
 * not on the server.
 *
 * If the connection is lost, the client reconnects. Calls wait until it is connected again, iterators resume where they were,
 * and no write is applied twice. The event `connection` reports each loss and each new connection.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 * @typeParam ServerMethods - The methods of the server, for {@link call}.
 */
export class NetLevel<
  KDefault = string,
  VDefault = string,
  ServerMethods extends Methods = Methods
> extends BackendLevel<KDefault, VDefault> {
  readonly #link: Link

  /**
   * Creates an instance and starts connecting to the server. Await `open()` to learn whether that succeeds.
   *
   * @param address - Where the server listens: `unix:PATH`, `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST:PORT/PATH` or
   *   `wss://…`, or a function that returns the address and is called for each connection.
   * @throws NET_INVALID if `address` is not a valid address.
   */
  constructor(
    address: string | (() => string | Promise<string>),
    options: NetLevelOptions<KDefault, VDefault> = {}
  ) {
    const link = new Link(typeof address === 'string' ? always(fixedAddress(address)) : address, options)
    super(new NetBackend(link), options, { call: true, watch: true, changes: true })
    this.#link = link
    link.onState = (isOnline, cause) => this.emit('connection', isOnline, cause)
  }

  /** Whether the client is connected now. */
  get isOnline(): boolean {
    return this.#link.isOnline
  }

  /** The name of the authenticated user, or null if the server does not authenticate its clients. */
  get user(): string | null {
    return this.#link.welcome?.user ?? null
  }

  /**
   * Closes the database once all earlier calls are answered. Calls that are still unanswered after `offlineTimeoutMs` fail;
   * writes that were sent fail with NET_WRITE_UNKNOWN.
   */
  override close(): Promise<void> {
    this.#link.endSoon()
    // Returned unchanged: a promise that awaits it would resolve only after an `open()` called next has begun.
    const closed = super.close()
    const ended = (): void => this.#link.ended()
    closed.then(ended, ended)
    return closed
  }

  /**
   * Calls a method of the server and resolves to its result. Arguments and results are bytes or anything that JSON can
   * represent.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   * @throws NET_UNKNOWN_METHOD if the server has no method of that name. Errors of the method are thrown as well.
   */
  async call<Name extends keyof ServerMethods & string>(
    name: Name,
    ...args: Parameters<ServerMethods[Name]>
  ): Promise<Awaited<ReturnType<ServerMethods[Name]>>> {
    if (this.status === 'opening') return this.deferAsync(() => this.call(name, ...args))
    assertOpen(this, 'call')
    return this.#link.ask(
      'once',
      netCall<'call', Awaited<ReturnType<ServerMethods[Name]>>>([Ask.call, 0, name, args])
    )
  }

  /**
   * Yields all writes to the server's database from this call on, by any client or process: batches of operations, in the order
   * in which the server's database reports them. Later reads by this client reflect every write yielded before.
   *
   * Writes that the consumer has not taken yet wait on the server, up to the server's limit. After a lost connection, the
   * iterator resumes without a gap. It ends without an error when this database is closed.
   *
   * @throws NET_INVALID at the call if the sublevel is not one of this database.
   * @throws NET_MISSED from the iterator if the consumer was too slow, or the connection was lost for too long.
   * @throws NET_DENIED from the iterator if the user may watch no key.
   * @throws NET_LIMIT from the iterator if the session has too many subscriptions.
   * @throws LEVEL_ABORTED from the iterator once the signal is aborted.
   */
  watch<K = KDefault, V = VDefault>(options: WatchOptions<K, V> = {}): WatchedWrites<K, V> {
    return watch<K, V>(this, () => this.#link, options)
  }

  /**
   * Yields the changes of a feed of the server, in order: first those after `since`, then new ones. It resumes automatically
   * after any connection loss, since the feed is stored. The server reads the feed only as fast as the consumer takes changes.
   *
   * Keys are those of the database or sublevel that the feed records.
   *
   * @param name - The name under which the server offers the feed.
   * @throws NET_UNKNOWN_FEED from the iterator if there is no feed of that name.
   * @throws NET_DENIED from the iterator if the user may not read it.
   * @throws NET_FEED_CLOSED from the iterator if the feed was closed while the server keeps running.
   * @throws FEED_TRIMMED, FEED_AHEAD and other errors of the feed, from the iterator.
   * @throws LEVEL_ABORTED from the iterator once the signal is aborted.
   */
  changes<K = KDefault, V = VDefault>(
    name: string,
    options: ChangesOptions<K, V> = {}
  ): EventIterator<FeedChange<K, V>> {
    const decoding = new Decoding<K, V>(this as unknown as Encodings<K, V>, '', options)
    return subscribe(this, () => this.#link, new Changes(name, options.since, decoding), options.signal)
  }
}

function always(address: string): () => string {
  return () => address
}

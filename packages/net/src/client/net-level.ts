import type { AbstractDatabaseOptions } from 'abstract-level'
import { BackendLevel } from 'terrace-core'
import { Ask } from '../protocol/messages.js'
import { parseAddress } from '../transport/address.js'
import { Link, type LinkOptions } from './link.js'
import { NetBackend } from './net-backend.js'

/** Options of {@link NetLevel}. */
export interface NetLevelOptions<K, V> extends LinkOptions, AbstractDatabaseOptions<K, V> {}

// biome-ignore lint/suspicious/noExplicitAny: a method may have any arguments
type Methods = Record<string, (...args: any[]) => unknown>

/**
 * A database that a server shares. It has abstract-level's API, sublevels and hooks; hooks run here, where they were added.
 *
 * After a connection was lost, it connects again. Calls wait for that, iterators go on where they stood, and no write happens
 * twice. The event `connection` tells of each change.
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
   * @param address - Where the server listens: `unix:PATH`, `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST:PORT/PATH` or
   *   `wss://…`. Or a function that finds that out, which is called for each connection.
   * @throws NET_INVALID if it is no address.
   */
  constructor(
    address: string | (() => string | Promise<string>),
    options: NetLevelOptions<KDefault, VDefault> = {}
  ) {
    if (typeof address === 'string') parseAddress(address)
    const link = new Link(typeof address === 'string' ? () => address : address, options)
    super(new NetBackend(link), options, { call: true })
    this.#link = link
    link.onState = (isOnline, cause) => this.emit('connection', isOnline, cause)
  }

  /** Whether there is a connection now. */
  get isOnline(): boolean {
    return this.#link.isOnline
  }

  /** Who the server says this is, or null if it asks nobody. */
  get user(): string | null {
    return this.#link.welcome?.user ?? null
  }

  /**
   * Calls a method of the server. Arguments and results are what JSON can hold, and bytes.
   *
   * @throws NET_UNKNOWN_METHOD if the server has none of that name, or whatever the method throws.
   */
  call<Name extends keyof ServerMethods & string>(
    name: Name,
    ...args: Parameters<ServerMethods[Name]>
  ): Promise<Awaited<ReturnType<ServerMethods[Name]>>> {
    return this.#link.ask('never', Ask.call, name, args)
  }
}

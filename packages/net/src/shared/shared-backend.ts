/**
 * One database for several processes of a machine. Whoever gets the lock opens it and serves it to the others on a local socket:
 * the owner. The others are its clients. When the owner is gone, whoever gets the lock next is the owner:
 *
 * ```text
 *   open ──▶ got the lock? ── yes ──▶ owner: opens the database, serves it
 *                  │                     ▲
 *                  no                    │ got the lock
 *                  ▼                     │
 *               client ── connection lost ──▶ tries both, again and again ──▶ client of another owner
 * ```
 *
 * A client that becomes the owner finishes what it had begun as a client of itself. Its calls therefore need no other rules than
 * those of {@link Link}: reads are asked again, writes that were not sent go on, writes that were sent and not answered fail with
 * NET_WRITE_UNKNOWN.
 *
 * Whoever takes an owner's place does so for the database that it came to, and creates none: see `owner.ts`.
 */

import {
  type Backend,
  BackendLevel,
  type BackendManifest,
  type BackendSnapshot,
  type CodedError,
  ForwardingBackend,
  type Operations,
  type RangeDeletion,
  RemoteSnapshot,
  type WatchedWrites,
  type WatchOptions
} from 'terrace-core'
import { Link } from '../client/link.js'
import { encodings, NetBackend } from '../client/net-backend.js'
import { netCall } from '../client/net-call.js'
import { type Subscriber, watch } from '../client/subscribe.js'
import type { Publisher } from '../client/subscription.js'
import { Ask } from '../protocol/messages.js'
import type { Method } from '../server/options.js'
import { Server } from '../server/server.js'
import { identityOf } from '../transport/identity.js'
import { sharedAddress } from '../transport/socket-path.js'
import { ObservedWrites } from './observed-writes.js'
import { OwnSubscriptions } from './own-subscriptions.js'
import { checkDirectory, checkOwner, missing, type Wanted } from './owner.js'
import { UnownedBackend } from './unowned-backend.js'

/** What the processes of a machine can be told. */
export interface SharedOptions {
  /**
   * How long calls wait for another owner, or for a busy one, in ms. Then they fail.
   *
   * @defaultValue 10,000
   */
  readonly ownerTimeoutMs?: number
}

/** What only the owner can do, by name. The others ask it to. */
export type OwnerMethods = Readonly<Record<string, Method>>

const DEFAULT_OWNER_TIMEOUT_MS = 10_000

/** How long an owner may be silent before it is asked for a sign of life, if calls may wait for long. */
const MAX_KEEP_ALIVE_MS = 2000

/** An owner that is there answers in this time. */
const MIN_CONNECT_MS = 100

/** Between two attempts to become the owner. */
const ATTEMPT_MS = 20

export class SharedBackend extends ForwardingBackend {
  readonly manifest: BackendManifest = {
    encodings,
    shared: true,
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #own: Backend
  readonly #ownWrites: ObservedWrites
  readonly #ownSubscriptions: OwnSubscriptions
  readonly #location: string
  readonly #ownerTimeoutMs: number
  readonly #methods: OwnerMethods
  #openOptions: object = {}
  /** Serves the database; undefined unless this process is the owner. */
  #server: Server | undefined
  /** Reaches the owner; undefined if this process has always been the owner. */
  #link: Link | undefined
  #client: NetBackend | undefined
  #isClosing = false
  /** Becomes the owner, if that is being tried. */
  #attempt: Promise<void> | undefined

  /**
   * @param own - Opens the database in this process. Its `open()` fails with LEVEL_LOCKED if another process has it open.
   * @param location - The absolute path of the database's directory.
   */
  constructor(own: Backend, location: string, { ownerTimeoutMs }: SharedOptions, methods: OwnerMethods) {
    super()
    this.#own = own
    this.#ownWrites = new ObservedWrites(own)
    this.#ownSubscriptions = new OwnSubscriptions(this.#ownWrites)
    this.#location = location
    this.#ownerTimeoutMs = ownerTimeoutMs ?? DEFAULT_OWNER_TIMEOUT_MS
    this.#methods = methods
  }

  /** Whether this process has the database open itself, and serves the others. */
  get isOwner(): boolean {
    return this.#server !== undefined
  }

  async open(options: { errorIfExists?: boolean }): Promise<void> {
    this.#openOptions = options
    this.#isClosing = false
    const deadline = performance.now() + this.#ownerTimeoutMs

    for (;;) {
      const locked = await this.#becomeOwner()
      if (locked === undefined) return
      if (options.errorIfExists === true) throw locked
      const failure = await this.#join(deadline - performance.now())
      if (failure === undefined) return
      const isRefused = failure.code === 'NET_MISMATCH' || failure.code === 'NET_UNAUTHENTICATED'
      if (isRefused || performance.now() >= deadline) throw explained(locked, failure, this.#location)
      await pause(ATTEMPT_MS)
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#attempt
    try {
      await this.#link?.close()
    } finally {
      this.#link = this.#client = undefined
      await this.#closeOwn()
    }
  }

  /** Ends being the owner, if this process is. Whatever fails, nothing is left open; what the database could not write is the error. */
  async #closeOwn(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    try {
      await server.close()
    } finally {
      await this.#own.close()
    }
  }

  override write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#writer(undefined).write(operations, sync)
  }

  clear(range: RangeDeletion, snapshot?: BackendSnapshot): void | Promise<void> {
    return this.#writer(snapshot).clear?.(range, snapshot)
  }

  /** Does something that only the owner can do: here, or there. */
  async call(name: string, ...args: unknown[]): Promise<unknown> {
    if (this.isOwner) return this.#methods[name]?.apply({ user: null }, args as never[])
    return this.#link?.ask('once', netCall([Ask.call, 0, name, args]))
  }

  /**
   * Yields the writes to the database of a backend like this one, whichever process makes them. With another owner it ends with
   * NET_MISSED.
   */
  watch<K, V>(db: Subscriber, options: WatchOptions<K, V>): WatchedWrites<K, V> {
    return watch(db, () => this.#publisher(), options)
  }

  /** Who tells of writes. The server tells those who still use the connection. */
  #publisher(): Publisher {
    return this.#isDirect ? this.#ownSubscriptions : (this.#link as Link)
  }

  #writer(snapshot: BackendSnapshot | undefined): Pick<Backend, 'write' | 'clear'> {
    const who = this.target(snapshot)
    return who === this.#own ? this.#ownWrites : who
  }

  /** Who does it: whoever has made the snapshot; and the connection, until everything that was sent over it is done. */
  protected target(snapshot?: BackendSnapshot): Backend {
    const client = this.#client as Backend | undefined
    if (client === undefined) return this.#own
    if (snapshot !== undefined) return snapshot instanceof RemoteSnapshot ? client : this.#own
    return this.#isDirect ? this.#own : client
  }

  /** Whether this process is the owner, and waits for nothing that it has asked for as a client. */
  get #isDirect(): boolean {
    return this.#client === undefined || (this.#server !== undefined && this.#link?.isIdle === true)
  }

  /**
   * Opens the database in this process and serves it. Returns the error if another process has it open.
   *
   * @param wanted - The database whose owner is gone.
   * @throws NET_MISMATCH if the directory does not hold it any more.
   */
  async #becomeOwner(wanted?: Wanted): Promise<Error | undefined> {
    // Before, so that no other database is touched.
    if (wanted !== undefined) checkDirectory(wanted)
    const takingOver = wanted && { createIfMissing: false, errorIfExists: false }
    try {
      await this.#own.open({ ...this.#openOptions, ...takingOver })
    } catch (error) {
      const { code } = error as CodedError<string>
      if (code === 'LEVEL_LOCKED') return error as Error
      if (wanted !== undefined && code === 'LEVEL_DATABASE_MISSING') throw missing(wanted.location, error)
      throw error
    }

    const borrowed = new BackendLevel(new UnownedBackend(this.#own, this.#ownWrites))
    const options = {
      methods: this.#methods,
      // They end by themselves, and a compaction may take its time.
      limits: { closeMs: Number.POSITIVE_INFINITY }
    }
    try {
      if (wanted !== undefined) checkDirectory(wanted)
      const own = { writes: this.#ownWrites, database: identityOf(this.#location) }
      const server = new Server(borrowed, options, own)
      await server.listen(sharedAddress(this.#location))
      this.#server = server
    } catch (error) {
      try {
        await this.#own.close()
      } catch {
        // Nothing was written to it.
      }
      throw error
    }
    return undefined
  }

  /** Connects to the owner. Returns the reason if that fails. */
  async #join(timeoutMs: number): Promise<CodedError<string> | undefined> {
    const link = new Link(() => sharedAddress(this.#location), {
      connectTimeoutMs: Math.max(timeoutMs, MIN_CONNECT_MS),
      offlineTimeoutMs: this.#ownerTimeoutMs,
      // Another process may listen, or this one: no need to wait for who has gone.
      isImpatient: true,
      countsSilence: true,
      keepAliveMs: Math.min(this.#ownerTimeoutMs / 2, MAX_KEEP_ALIVE_MS)
    })
    try {
      const wanted = {
        location: this.#location,
        identity: identityOf(this.#location),
        methods: Object.keys(this.#methods)
      }
      link.checkWelcome = (welcome) => checkOwner(welcome, wanted)
      link.onState = (isOnline) => {
        if (!isOnline) this.#succeed(link, wanted)
      }
      await link.open()
    } catch (error) {
      return error as CodedError<string>
    }
    this.#link = link
    this.#client = new NetBackend(link)
    return undefined
  }

  /** Tries to become the owner until there is one. The link looks for another one at the same time. */
  #succeed(link: Link, wanted: Wanted): void {
    this.#attempt ??= this.#tryToOwn(link, wanted).finally(() => {
      this.#attempt = undefined
    })
  }

  async #tryToOwn(link: Link, wanted: Wanted): Promise<void> {
    while (!this.#isClosing && !link.isOnline && this.#server === undefined) {
      try {
        if ((await this.#becomeOwner(wanted)) === undefined) return
      } catch (error) {
        // The link goes on to look for an owner that can open it.
        link.giveUp(error as Error)
      }
      await pause(ATTEMPT_MS * (0.5 + Math.random()))
    }
  }
}

/** Why neither the lock nor an owner could be had. */
function explained(locked: Error, failure: CodedError<string>, location: string): Error {
  const message = `${locked.message}; ${reasonOf(failure, location)}`
  return Object.assign(new Error(message), { code: 'LEVEL_LOCKED', cause: failure })
}

function reasonOf({ code, message }: CodedError<string>, location: string): string {
  if (code === 'NET_UNAUTHENTICATED') {
    return (
      'its owner is a server that asks for a token, which shared databases do not have: use NetLevel with a token, or serve the ' +
      'socket of the directory without tokens'
    )
  }
  if (code !== 'NET_OFFLINE') return message
  if (message.includes('in time')) return 'its owner does not answer, perhaps because its event loop is busy'
  return `nothing listens at ${placeOf(location)}: the process that has it open does not share it. Open it with 'shared: true' there as well`
}

function placeOf(location: string): string {
  try {
    return sharedAddress(location)
  } catch {
    return location
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs)
  })
}

/**
 * One database for several processes of a machine. The process that gets the lock is the owner: it opens the database and serves it
 * to the others, its clients, on a local socket. When the owner is gone, the next process to get the lock becomes the owner:
 *
 * ```text
 *   open ──▶ got the lock? ── yes ──▶ owner: opens the database, serves it
 *                  │                     ▲
 *                  no                    │ got the lock
 *                  ▼                     │
 *               client ── connection lost ──▶ tries both, again and again ──▶ client of another owner
 * ```
 *
 * A client that becomes the owner finishes its pending calls as a client of itself. They therefore follow the same rules as those
 * of {@link Link}: reads are repeated, unsent writes are sent, and writes that were sent but not answered fail with
 * NET_WRITE_UNKNOWN.
 *
 * A process that takes over from an owner only opens the database it was connected to, and never creates one: see `owner.ts`.
 */

import {
  type Backend,
  type BackendCondition,
  BackendLevel,
  type BackendManifest,
  type BackendReadOptions,
  type BackendSnapshot,
  type Bytes,
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

/** Options of a shared database. */
export interface SharedOptions {
  /**
   * How long calls wait for a new owner, or for a busy one, before they fail, in ms.
   *
   * @defaultValue 10,000
   */
  readonly ownerTimeoutMs?: number
}

/** Methods that only the owner can perform, by name. Other processes call them over their connection. */
export type OwnerMethods = Readonly<Record<string, Method>>

const DEFAULT_OWNER_TIMEOUT_MS = 10_000

/** The longest time for which an owner may be silent before it is pinged, however long calls may wait, in ms. */
const MAX_KEEP_ALIVE_MS = 2000

/** A running owner answers within this time, in ms. */
const MIN_CONNECT_MS = 100

/** The pause between two attempts to become the owner, in ms. */
const ATTEMPT_MS = 20

/** A back-end that several processes of a machine share: one of them opens the database and serves it to the others. */
export class SharedBackend extends ForwardingBackend {
  readonly manifest: BackendManifest
  readonly #own: Backend
  readonly #ownWrites: ObservedWrites
  readonly #ownSubscriptions: OwnSubscriptions
  readonly #location: string
  readonly #ownerTimeoutMs: number
  readonly #methods: OwnerMethods
  #openOptions: object = {}
  /** Serves the database; undefined unless this process is the owner. */
  #server: Server | undefined
  /** Connects to the owner; undefined if this process has always been the owner. */
  #link: Link | undefined
  #client: NetBackend | undefined
  #isClosing = false
  /** The running attempt to become the owner. */
  #attempt: Promise<void> | undefined

  /**
   * @param own - Opens the database in this process. Its `open()` fails with LEVEL_LOCKED if another process has it open.
   * @param location - The absolute path of the database's directory.
   */
  constructor(own: Backend, location: string, { ownerTimeoutMs }: SharedOptions, methods: OwnerMethods) {
    super()
    const { conditionalWrites = false, versions = false } = own.manifest
    this.manifest = {
      encodings,
      shared: true,
      conditionalWrites,
      versions,
      createIfMissing: true,
      errorIfExists: true
    }
    this.#own = own
    this.#ownWrites = new ObservedWrites(own)
    this.#ownSubscriptions = new OwnSubscriptions(this.#ownWrites)
    this.#location = location
    this.#ownerTimeoutMs = ownerTimeoutMs ?? DEFAULT_OWNER_TIMEOUT_MS
    this.#methods = methods
  }

  /** Whether this process opened the database and serves it to the others. */
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

  /**
   * If this process is the owner, stops serving and closes the database, even after an error. The error of the database takes
   * precedence.
   */
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

  getEntry(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): ReturnType<NonNullable<Backend['getEntry']>> {
    return this.target(snapshot).getEntry?.(key, options, snapshot)
  }

  override write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#writer(undefined).write(operations, sync)
  }

  writeIf(
    conditions: readonly BackendCondition[],
    operations: Operations,
    sync: boolean
  ): void | Promise<void> {
    return this.#writer(this.#snapshotOf(conditions)).writeIf?.(conditions, operations, sync)
  }

  /**
   * Returns one of the snapshots of conditions; undefined if there is none.
   *
   * @throws NET_SESSION_LOST if no single back-end can serve them all, in order with the writes before: snapshots of the time before
   * and after this process became the owner.
   */
  #snapshotOf(conditions: readonly BackendCondition[]): BackendSnapshot | undefined {
    const snapshots = conditions.flatMap((each) => (each.kind === 'unchanged' ? each.snapshot : []))
    const [first] = snapshots
    const isRemote = first instanceof RemoteSnapshot
    const isMixed = snapshots.some((each) => each instanceof RemoteSnapshot !== isRemote)
    const isOwn = first !== undefined && !isRemote
    const link = this.#link
    if (link !== undefined && (isMixed || (isOwn && link.hasWrites))) throw link.stateLost()
    return first
  }

  clear(range: RangeDeletion, snapshot?: BackendSnapshot): void | Promise<void> {
    return this.#writer(snapshot).clear?.(range, snapshot)
  }

  /** Calls a method that only the owner can perform: directly if this process is the owner, otherwise over the connection. */
  async call(name: string, ...args: unknown[]): Promise<unknown> {
    if (this.isOwner) return this.#methods[name]?.apply({ user: null }, args as never[])
    return this.#link?.ask('once', netCall([Ask.call, 0, name, args]))
  }

  /**
   * Yields the writes to the database by any process. When the owner changes, or no process can be the owner any more, the
   * iterator ends with NET_MISSED.
   */
  watch<K, V>(db: Subscriber, options: WatchOptions<K, V>): WatchedWrites<K, V> {
    return watch(db, () => this.#publisher(), options)
  }

  /** The source of watched writes: the connection while this process still uses it, otherwise the database itself. */
  #publisher(): Publisher {
    return this.#isDirect ? this.#ownSubscriptions : (this.#link as Link)
  }

  #writer(snapshot: BackendSnapshot | undefined): Pick<Backend, 'write' | 'writeIf' | 'clear'> {
    const who = this.target(snapshot)
    return who === this.#own ? this.#ownWrites : who
  }

  /**
   * Returns the back-end for a call: the one that created the snapshot, or the connection until everything sent over it is
   * finished.
   */
  protected target(snapshot?: BackendSnapshot): Backend {
    const client = this.#client as Backend | undefined
    if (client === undefined) return this.#own
    if (snapshot !== undefined) return snapshot instanceof RemoteSnapshot ? client : this.#own
    return this.#isDirect ? this.#own : client
  }

  /** Whether this process is the owner and has no pending calls from its time as a client. */
  get #isDirect(): boolean {
    return this.#client === undefined || (this.#server !== undefined && this.#link?.isIdle === true)
  }

  /**
   * Opens the database in this process and serves it. Returns the error if another process has it open.
   *
   * @param wanted - The database whose owner is gone.
   * @throws NET_MISMATCH if the directory no longer holds it.
   */
  async #becomeOwner(wanted?: Wanted): Promise<Error | undefined> {
    // Checked first, so that no other database is touched.
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
      // These methods end on their own, but a compaction may take long.
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
      // If nothing is listening, another process or this one will become the owner: waiting for the old owner is pointless.
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

  /** Tries to become the owner until there is one. Meanwhile, the link looks for another owner. */
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
        // The link keeps looking for an owner that can open it.
        link.giveUp(error as Error)
      }
      await pause(ATTEMPT_MS * (0.5 + Math.random()))
    }
  }
}

/** Explains why this process got neither the lock nor a connection to an owner. */
function explained(locked: Error, failure: CodedError<string>, location: string): Error {
  const message = `${locked.message}; ${reasonOf(failure, location)}`
  return Object.assign(new Error(message), { code: 'LEVEL_LOCKED', cause: failure })
}

function reasonOf({ code, message }: CodedError<string>, location: string): string {
  if (code === 'NET_UNAUTHENTICATED') {
    return (
      'its owner is a server that requires a token, and shared databases have none: use NetLevel with a token, or serve the ' +
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

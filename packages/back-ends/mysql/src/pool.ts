/** The connections of a process to the servers of one target: bounded, and shared by all databases there. */

import { codedError } from 'terrace-core'
import { Connection } from './connection.js'
import type { SessionOptions } from './dialect.js'
import { type MysqlError, mysqlError } from './errors.js'
import { type Failure, isDenied, isUntrusted, TOO_MANY_CONNECTIONS, translated } from './failures.js'
import { Hosts } from './hosts.js'
import { type Host, nameOf, type Target } from './target.js'
import { now, pause, until } from './time.js'

/** Whether a connection is wanted for one operation, or is held for as long as the user wishes. */
export type Use = 'operation' | 'hold'

interface Waiter {
  readonly use: Use
  readonly end: number
  readonly resolve: (connection: Connection) => void
  readonly reject: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

export class Pool {
  readonly #target: Target
  readonly #session: SessionOptions
  readonly #hosts: Hosts
  #size = 0
  #opening = 0
  readonly #idle: Connection[] = []
  /** The connections that are in use, and for what. */
  readonly #used = new Map<Connection, Use>()
  /** How many connections are held, or being opened to be held. */
  #held = 0
  #waiters: Waiter[] = []
  #isEnded = false

  constructor(target: Target, session: SessionOptions) {
    this.#target = target
    this.#session = session
    this.#hosts = new Hosts(target.hosts)
  }

  get hostCount(): number {
    return this.#hosts.count
  }

  /** Sets how many connections there may be. Those that are open stay. */
  resize(size: number): void {
    this.#size = size
    this.#serve()
  }

  /** Whether a connection to hold would have to be waited for. */
  get isFullForHolding(): boolean {
    return this.#held >= this.#holdLimit || (this.#idle.length === 0 && this.#count >= this.#size)
  }

  /** An eighth is for operations alone, so that a loop over an iterator can write. */
  get #holdLimit(): number {
    return this.#size - Math.min(this.#size - 1, Math.ceil(this.#size / 8))
  }

  get #count(): number {
    return this.#idle.length + this.#used.size + this.#opening
  }

  /**
   * Returns a connection, which {@link release} gives back.
   *
   * @throws LEVEL_POOL_EXHAUSTED, LEVEL_UNAVAILABLE or LEVEL_ACCESS_DENIED
   */
  acquire(use: Use, end: number): Promise<Connection> {
    if (this.#isEnded) return Promise.reject(notOpen())
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { use, end, resolve, reject, timer: undefined }
      this.#waiters.push(waiter)
      this.#serve()
      if (!this.#waiters.includes(waiter)) return
      waiter.timer = setTimeout(() => this.#expire(waiter), until(end))
    })
  }

  #expire(waiter: Waiter): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter)
    const what = waiter.use === 'hold' ? 'No connection for a snapshot or an iterator' : 'No connection'
    waiter.reject(
      mysqlError(
        'LEVEL_POOL_EXHAUSTED',
        `${what} became free within 'deadlineMs': open snapshots and iterators hold ${this.#held} of at most ${this.#size}. Close some, or raise 'poolSize'`
      )
    )
  }

  /** Serves those that wait, in their order, as far as there are connections for their use. */
  #serve(): void {
    if (this.#waiters.length === 0) return
    const waiting: Waiter[] = []
    for (const waiter of this.#waiters) if (!this.#isServed(waiter)) waiting.push(waiter)
    this.#waiters = waiting
  }

  #isServed(waiter: Waiter): boolean {
    if (waiter.use === 'hold' && this.#held >= this.#holdLimit) return false
    const connection = this.#idle.pop()
    if (connection === undefined && this.#count >= this.#size) return false

    if (waiter.use === 'hold') this.#held++
    clearTimeout(waiter.timer)
    if (connection === undefined) void this.#openFor(waiter)
    else this.#give(waiter, connection)
    return true
  }

  #give({ use, resolve }: Waiter, connection: Connection): void {
    this.#used.set(connection, use)
    resolve(connection)
  }

  async #openFor(waiter: Waiter): Promise<void> {
    this.#opening++
    try {
      const connection = await this.#open(waiter.end)
      this.#opening--
      connection.onBroken = () => this.#remove(connection)
      this.#give(waiter, connection)
    } catch (error) {
      this.#opening--
      if (waiter.use === 'hold') this.#held--
      if (this.#canWait(error)) this.#waitOn(waiter)
      else waiter.reject(translated(error))
      this.#serve()
    }
  }

  /** Whether the server gives no more connections, so that one of ours must become free. */
  #canWait(error: unknown): boolean {
    return TOO_MANY_CONNECTIONS.has((error as Failure).errno) && this.#used.size > 0
  }

  #waitOn(waiter: Waiter): void {
    waiter.timer = setTimeout(() => this.#expire(waiter), until(waiter.end))
    // Not served at once, which would ask the server again.
    setTimeout(() => this.#serve(), LONGEST_PAUSE_MS)
    this.#waiters.unshift(waiter)
  }

  /** Tries the hosts in turn until one accepts, or the time is over. */
  async #open(end: number): Promise<Connection> {
    let lastError: unknown
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const hosts = this.#hosts.inOrder()
      let isTrusted = false
      for (const [i, host] of hosts.entries()) {
        // A host that hangs must leave time for the others.
        const share = now() + until(end) / (hosts.length - i)
        try {
          const connection = await Connection.connect(this.#target, host, this.#session, share)
          this.#hosts.served(host)
          return connection
        } catch (error) {
          if (isDenied(error) || this.#canWait(error)) throw error
          isTrusted ||= !isUntrusted(error)
          lastError = error
        }
      }
      if (!isTrusted || this.#isEnded || until(end) <= pauseMs) throw unavailable(hosts, lastError)
      await pause(pauseMs)
    }
  }

  /** Gives a connection back. A broken one is replaced when needed. */
  release(connection: Connection): void {
    if (connection.isBroken || !this.#used.has(connection)) return
    this.#forget(connection)
    if (this.#isEnded || this.#count >= this.#size) {
      connection.onBroken = undefined
      connection.end()
    } else {
      this.#idle.push(connection)
    }
    this.#serve()
  }

  #forget(connection: Connection): void {
    if (this.#used.get(connection) === 'hold') this.#held--
    this.#used.delete(connection)
  }

  #remove(connection: Connection): void {
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    else this.#forget(connection)
    this.#serve()
  }

  /** Notes that a host failed: its idle connections are dropped, and new ones go to the next host first. */
  hostFailed(host: Host): void {
    this.#hosts.failed(host)
    for (const connection of this.#idle.filter((each) => each.host === host)) connection.destroy()
  }

  /** Ends all connections. */
  end(): void {
    this.#isEnded = true
    for (const { timer, reject } of this.#waiters.splice(0)) {
      clearTimeout(timer)
      reject(notOpen())
    }
    for (const connection of this.#idle.splice(0)) {
      connection.onBroken = undefined
      connection.end()
    }
    for (const connection of [...this.#used.keys()]) connection.destroy()
  }
}

function unavailable(hosts: readonly Host[], cause: unknown): MysqlError {
  return mysqlError(
    'LEVEL_UNAVAILABLE',
    `No host accepts: ${hosts.map(nameOf).join(', ')}: ${(cause as Error | undefined)?.message}`,
    cause
  )
}

function notOpen(): Error {
  return codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
}

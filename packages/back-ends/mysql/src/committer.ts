/** Commits transactions one after another, each exactly once, regardless of what happens to its connection. */

import type { Connection } from './connection.js'
import type { ServerSettings } from './dialect.js'
import { deadlineError, isConflict, isHostDown, translated } from './failures.js'
import { fateOf, type Registry } from './fates.js'
import { Marks } from './marks.js'
import { now, pause, until } from './time.js'
import type { Packet } from './transaction.js'

/** The minimum time for determining the fate of a commit: clusters take a while to notice the loss of a node. */
const MIN_FATE_MS = 10_000
const LONGEST_PAUSE_MS = 50

/** The outcome of an attempt. `again` means that nothing was committed, or ever will be. */
type Outcome = 'committed' | { readonly again: boolean; readonly error: unknown }

export class Committer {
  readonly #registry: Registry
  readonly #deadlineMs: number
  readonly #marks: Marks

  constructor(registry: Registry, deadlineMs: number) {
    this.#registry = registry
    this.#deadlineMs = deadlineMs
    this.#marks = new Marks(registry.table)
  }

  /**
   * Commits a transaction.
   *
   * @param packetsFor - Returns its statements, for a server with these settings. If it throws, nothing is written.
   * @throws LEVEL_DEADLINE and others if it is not committed and never will be, LEVEL_COMMIT_UNKNOWN if its fate is unknown.
   */
  async commit(packetsFor: (settings: ServerSettings) => Packet[], end: number): Promise<void> {
    this.#marks.next()
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#registry.pool.acquire('operation', end)
      const outcome = await this.#attempt(connection, packetsFor, end)
      if (outcome === 'committed') return

      // A random pause keeps two transactions from colliding again and again.
      const pauseMs = Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS)
      if (!outcome.again) throw translated(outcome.error)
      if (until(end) <= pauseMs) throw deadlineError('The write', translated(outcome.error))
      if (attempt > 1 || isConflict(outcome.error)) await pause(pauseMs)
    }
  }

  async #attempt(
    connection: Connection,
    packetsFor: (settings: ServerSettings) => Packet[],
    end: number
  ): Promise<Outcome> {
    const { pool } = this.#registry
    try {
      const packets = framed(packetsFor(connection.settings), this.#marks.statements, connection.settings)
      const last = packets.pop() as string
      for (const packet of packets) await send(connection, packet, end)
      return await this.#finish(connection, last, end)
    } catch (error) {
      // Without COMMIT, the server rolls back, now or when it notices that the connection is gone.
      await this.#rollBack(connection, end)
      return { again: isConflict(error) || isHostDown(error), error }
    } finally {
      if (connection.isBroken) pool.hostFailed(connection.host)
      pool.release(connection)
    }
  }

  /** Sends the packet that ends with COMMIT. Only a clear answer shows whether the commit took place. */
  async #finish(connection: Connection, last: string, end: number): Promise<Outcome> {
    try {
      await connection.query(last, end)
      return 'committed'
    } catch (error) {
      const answer = await this.#answerOf(connection, end)
      if (answer === 'committed') return answer
      if (answer === 'aborted') return { again: isConflict(error), error }
      this.#registry.pool.hostFailed(connection.host)
      const fateEnd = now() + Math.max(this.#deadlineMs, MIN_FATE_MS)
      if (await fateOf(this.#registry, this.#marks.current, fateEnd, translated(error))) return 'committed'
      this.#marks.renew()
      this.#marks.next()
      return { again: isHostDown(error), error }
    }
  }

  /** Queries the server about a transaction whose last packet it answered with an error; undefined if the server is gone. */
  async #answerOf(connection: Connection, end: number): Promise<'committed' | 'aborted' | undefined> {
    if (connection.isBroken) return undefined
    try {
      const results = await connection.query(`ROLLBACK;${this.#marks.question}`, end)
      return ((results as unknown[]).at(-1) as unknown[]).length > 0 ? 'committed' : 'aborted'
    } catch {
      connection.destroy()
      return undefined
    }
  }

  async #rollBack(connection: Connection, end: number): Promise<void> {
    if (connection.isBroken) return
    try {
      await connection.query('ROLLBACK', end)
    } catch {
      connection.destroy()
    }
  }

  /** Removes the mark of the last transaction, whose fate is known. */
  async clean(end: number): Promise<void> {
    if (this.#marks.current.number === 0) return
    const { pool } = this.#registry
    const connection = await pool.acquire('operation', end)
    try {
      await connection.query(this.#marks.removal(), end)
    } finally {
      pool.release(connection)
    }
  }
}

function send(connection: Connection, packet: Packet, end: number): Promise<unknown> {
  return typeof packet === 'string' ? connection.query(packet, end) : connection.execute(packet, end)
}

/**
 * The packets of a whole transaction, the last of which is text.
 *
 * In a cluster, each statement is sent separately. A transaction that conflicts with one of another node can be rolled back at any
 * time. Within a packet, MariaDB then executes the next statement outside of any transaction, and COMMIT succeeds with nothing to
 * commit.
 */
function framed(
  packets: readonly Packet[],
  marks: readonly string[],
  { isClustered }: ServerSettings
): Packet[] {
  if (isClustered) return ['START TRANSACTION', ...marks, ...packets, 'COMMIT']
  const begin = `START TRANSACTION;${marks.join(';')}`
  const all = [...packets]
  const first = all[0]
  if (typeof first === 'string') all[0] = `${begin};${first}`
  else all.unshift(begin)
  const last = all.at(-1)
  if (typeof last === 'string') all[all.length - 1] = `${last};COMMIT`
  else all.push('COMMIT')
  return all
}

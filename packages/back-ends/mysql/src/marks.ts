/**
 * The mark of each transaction: a row written with it. If the connection breaks during COMMIT, the mark shows the transaction's
 * fate. An instance has one such row, since each transaction removes the previous mark.
 *
 * To find out, an instance writes the same mark as aborted. If that succeeds, the transaction is not committed and never will be:
 * even if a hanging server continues it later, its mark then exists already. If the mark already exists, it shows the outcome.
 */

import { randomBytes } from 'node:crypto'
import type { Connection } from './connection.js'
import { DUPLICATE, type Failure } from './failures.js'
import { bufferOf } from './literals.js'

/** How long marks stay if nothing removes them: those of aborted transactions, and of killed programs. */
const KEEP_DAYS = 7
const REMOVED_AT_ONCE = 1000

/** The mark of one transaction. */
export interface Mark {
  /** 32 hexadecimal digits. */
  readonly id: string
  readonly number: number
}

/** The marks of an instance's transactions, one after another. */
export class Marks {
  readonly #table: string
  #id = newId()
  #number = 0

  constructor(table: string) {
    this.#table = table
  }

  get current(): Mark {
    return { id: this.#id, number: this.#number }
  }

  /** Starts the mark of a new transaction. */
  next(): Mark {
    this.#number++
    return this.current
  }

  /** Starts a new row. Existing marks stay, since a hanging server may still execute their transactions. */
  renew(): void {
    this.#id = newId()
    this.#number = 0
  }

  /** The statements that write the current mark. */
  get statements(): string[] {
    const insert = `INSERT INTO ${this.#table} (id,seq,aborted) VALUES (x'${this.#id}',${this.#number},0)`
    return this.#number === 1 ? [insert] : [insert, this.removal(this.#number - 1)]
  }

  /** The statement that returns a row if the current transaction was committed. */
  get question(): string {
    return `SELECT seq FROM ${this.#table} WHERE id=x'${this.#id}' AND seq=${this.#number} AND aborted=0`
  }

  /** The statement that removes a mark. */
  removal(number = this.#number): string {
    return `DELETE FROM ${this.#table} WHERE id=x'${this.#id}' AND seq=${number}`
  }
}

function newId(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Ensures that the transaction of a mark is not committed later, and returns whether it was committed. Waits while it is still
 * running on the server.
 *
 * @returns undefined if this must be retried.
 */
export async function decide(
  connection: Connection,
  table: string,
  { id, number }: Mark,
  end: number
): Promise<boolean | undefined> {
  try {
    await connection.query(`INSERT INTO ${table} (id,seq,aborted) VALUES (x'${id}',${number},1)`, end)
    return false
  } catch (error) {
    if ((error as Failure).errno !== DUPLICATE) throw error
  }
  const [row] = await connection.rows(`SELECT aborted FROM ${table} WHERE id=x'${id}' AND seq=${number}`, end)
  return row === undefined ? undefined : Number(row[0]) === 0
}

/** Removes old marks, up to the number suitable for one transaction. */
export async function removeOldMarks(connection: Connection, table: string, end: number): Promise<void> {
  // Reads first, without locks: a deletion with a condition waits for rows that others are writing.
  const old = await connection.rows(
    `SELECT id,seq FROM ${table} WHERE at < NOW() - INTERVAL ${KEEP_DAYS} DAY LIMIT ${REMOVED_AT_ONCE}`,
    end
  )
  if (old.length === 0) return
  const marks = old.map(([id, number]) => `(x'${idOf(id)}',${Number(number)})`)
  await connection.query(`DELETE FROM ${table} WHERE (id,seq) IN (${marks.join(',')})`, end)
}

function idOf(id: unknown): string {
  return (typeof id === 'string' ? bufferOf(id) : (id as Buffer)).toString('hex')
}

/** A cursor: pages of rows of one state. Each page starts after the last key of the previous one. */

import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page, StoredRange } from 'terrace-core'
import type { Row } from './connection.js'
import { condition, ranges } from './keys.js'
import { type Binary, binaryOf, literal } from './literals.js'
import type { State } from './state.js'
import { inFormat } from './values.js'

/** Approximately how much is read at once, in bytes, and the most rows. */
const FETCH_BYTES = 1024 * 1024
const FETCH_ROWS = 1000
/**
 * A value up to this size, in bytes, always comes with its row. A larger one is fetched separately if its row was not expected to
 * be so large.
 */
const INLINE_BYTES = 8 * 1024

export class Cursor implements BackendCursor {
  readonly #table: string
  readonly #n: number
  readonly #state: State
  readonly #ownsState: boolean
  readonly #range: StoredRange<Binary>
  readonly #parts: CursorParts
  readonly #reverse: boolean
  readonly #keyFormat: string | undefined
  readonly #valueFormat: string | undefined
  /** The remaining range for the next fetch. */
  #rest: StoredRange<Binary>
  /** Rows that were fetched, and the index of the next one. */
  #rows: Row[] = []
  #next = 0
  /** Whether there are no rows after those fetched. */
  #isFetched = false
  /** The average size of a row so far, in bytes. */
  #rowBytes = 0
  /** Counts seeks: a fetch that began before the last seek is discarded. */
  #seeks = 0

  /** @param ownsState - Whether the cursor closes the state. */
  constructor(
    table: string,
    n: number,
    options: CursorOptions,
    parts: CursorParts,
    state: State,
    ownsState: boolean
  ) {
    this.#table = table
    this.#n = n
    this.#state = state
    this.#ownsState = ownsState
    this.#range = ranges.of(options)
    this.#rest = this.#range
    this.#parts = parts
    this.#reverse = options.reverse
    this.#keyFormat = options.keyEncoding
    this.#valueFormat = options.valueEncoding
  }

  read(size: number, highWaterMarkBytes: number): Page | Promise<Page> {
    const page: Array<boolean | undefined | Bytes> = [false, undefined]
    const missing = this.#fill(page, size, highWaterMarkBytes)
    return missing === undefined ? this.#finished(page) : this.#readMore(page, missing)
  }

  async #readMore(page: Array<boolean | undefined | Bytes>, missing: Missing): Promise<Page> {
    let next: Missing | undefined = missing
    while (next !== undefined) {
      if (next.lackingValue === undefined) await this.#fetch(next.count)
      else await this.#fetchValue(next.lackingValue)
      next = this.#fill(page, next.count, next.bytesLeft)
    }
    return this.#finished(page)
  }

  #finished(page: Array<boolean | undefined | Bytes>): Page {
    page[0] = this.#isFetched && this.#next >= this.#rows.length
    return page as unknown as Page
  }

  /** Moves rows to a page until it is full, or something is missing. */
  #fill(page: unknown[], count: number, bytesLeft: number): Missing | undefined {
    let [countLeft, left] = [count, bytesLeft]
    while (countLeft > 0 && left >= 0) {
      const row = this.#rows[this.#next]
      if (row === undefined) {
        // A nonempty page is better than waiting for more.
        if (this.#isFetched || page.length > 2) return undefined
        return { count: countLeft, bytesLeft: left, lackingValue: undefined }
      }
      if (this.#lacksValue(row)) return { count: countLeft, bytesLeft: left, lackingValue: row }
      left -= this.#push(page, row)
      countLeft--
      this.#next++
    }
    return undefined
  }

  #lacksValue(row: Row): boolean {
    return this.#parts !== 'keys' && row[1] === null
  }

  /** Adds the parts of a row to a page. Returns their size. */
  #push(page: unknown[], row: Row): number {
    const [key, value] = row as [Buffer, Buffer | undefined]
    if (this.#parts !== 'values') page.push(inFormat(key, this.#keyFormat))
    if (this.#parts !== 'keys') page.push(inFormat(value as Buffer, this.#valueFormat))
    return (this.#parts === 'values' ? 0 : key.length) + (value?.length ?? 0)
  }

  async #fetch(wanted: number): Promise<void> {
    const seeks = this.#seeks
    const expected = this.#rowBytes === 0 ? wanted : Math.ceil(FETCH_BYTES / this.#rowBytes)
    const count = Math.min(FETCH_ROWS, Math.max(1, expected))
    const inline = Math.max(INLINE_BYTES, Math.floor((2 * FETCH_BYTES) / count))
    const columns = this.#parts === 'keys' ? 'k' : `k,IF(LENGTH(v)>${inline},NULL,v)`
    const rows = await this.#state.query(
      `SELECT ${columns} FROM ${this.#table} WHERE ${condition(this.#n, this.#rest)} ORDER BY k${
        this.#reverse ? ' DESC' : ''
      } LIMIT ${count}`
    )
    if (seeks !== this.#seeks) return
    this.#rows = rows
    this.#next = 0
    this.#isFetched = rows.length < count
    const last = rows.at(-1)
    if (last === undefined) return
    this.#rest = ranges.after(this.#range, this.#reverse, binaryOf(last[0] as Buffer))
    this.#rowBytes = Math.max(1, sizeOf(rows) / rows.length)
  }

  /** Fetches a value that was too large to come with its row. */
  async #fetchValue(row: Row): Promise<void> {
    const [seeks, at] = [this.#seeks, this.#next]
    const key = literal(binaryOf(row[0] as Buffer))
    const rows = await this.#state.query(`SELECT v FROM ${this.#table} WHERE n=${this.#n} AND k=${key}`)
    if (seeks !== this.#seeks) return
    const [value] = rows[0] as [Buffer]
    this.#rows[at] = [row[0] as Buffer, value]
    this.#rowBytes = Math.max(this.#rowBytes, value.length / 4)
  }

  seek(target: Bytes): void {
    this.#seeks++
    this.#rows = []
    this.#next = 0
    this.#isFetched = !ranges.contains(this.#range, binaryOf(target))
    if (!this.#isFetched) this.#rest = ranges.from(this.#range, this.#reverse, target)
  }

  abort(): void {
    if (this.#ownsState) this.#state.abort()
  }

  close(): void {
    this.#rows = []
    if (this.#ownsState) this.#state.close()
  }
}

/** What a page needs to continue: the value of a row, or more rows. */
interface Missing {
  readonly count: number
  readonly bytesLeft: number
  readonly lackingValue: Row | undefined
}

function sizeOf(rows: readonly Row[]): number {
  let size = 0
  for (const [key, value] of rows) {
    size += (key as Buffer).length + ((value as Buffer | null | undefined)?.length ?? INLINE_BYTES)
  }
  return size
}

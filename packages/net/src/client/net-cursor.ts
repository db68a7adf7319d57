/**
 * A cursor on the server, as the client sees it. It survives the session: another one goes on after the last key. A cursor that
 * reads on and on asks for the next page before it is wanted, and for larger ones.
 */

import type { BackendCursor, Bytes, CodedError, CursorOptions, CursorParts, Page } from 'terrace-core'
import { copyOf } from '../protocol/bytes.js'
import { Ask, partsCodes, wireRange } from '../protocol/messages.js'
import type { Link, Resource } from './link.js'
import type { NetSnapshot } from './net-snapshot.js'
import { PageRest, type ReadPage, readPage } from './page-rest.js'

/** From this page on, the next one is asked for in advance. A short range has been read before. */
const FIRST_AHEAD = 2

/** Pages grow up to this, so that a distant server does not make a scan wait for each few entries. */
const MAX_PAGE_BYTES = 256 * 1024

const GROWTH = 2

/** Entries in a page that is asked for in advance: as many as fit. */
const MANY = 100_000

export class NetCursor implements BackendCursor, Resource {
  readonly #link: Link
  readonly #options: CursorOptions
  readonly #parts: CursorParts
  /** The formats of the parts of an entry. */
  readonly #formats: readonly string[]
  readonly #snapshot: NetSnapshot | undefined
  readonly #handle: number
  /** Where the next page begins: after this key, or at the target of a seek. Undefined at the beginning. */
  #position: { after: Uint8Array } | { target: Uint8Array } | undefined
  #isOpen = false
  /** Whether the cursor on the server has only what is left of the range. */
  #isNarrowed = false
  #failure: unknown
  /** Counts the pages, so that the server can tell a repeated request from the next one. */
  #pages = 0
  /** Counts the pages since the beginning, or since the last seek. */
  #pagesInRow = 0
  /** Counts the seeks. A page that was asked for before one is not wanted any more. */
  #seeks = 0
  /** The next page, if it was asked for in advance. */
  #ahead: Promise<ReadPage> | undefined
  /** What is left of a page that had more entries than were wanted. */
  #rest: PageRest | undefined

  constructor(link: Link, options: CursorOptions, parts: CursorParts, snapshot: NetSnapshot | undefined) {
    this.#link = link
    this.#options = copied(options)
    this.#parts = parts
    const { keyEncoding = 'view', valueEncoding = 'view' } = options
    const formats = { keys: [keyEncoding], values: [valueEncoding], entries: [keyEncoding, valueEncoding] }
    this.#formats = formats[parts]
    this.#snapshot = snapshot
    this.#handle = link.addResource(this)
    try {
      this.#open()
    } catch (error) {
      // The snapshot is gone. The first read says so.
      this.#failure = error
    }
  }

  async read(size: number, highWaterMarkBytes: number): Promise<Page> {
    if (this.#rest === undefined) {
      const page = await (this.#ahead ?? this.#fetch(size, highWaterMarkBytes))
      this.#ahead = undefined
      this.#pagesInRow++
      this.#rest = new PageRest(page, this.#formats)
      if (!page.isLast && this.#pagesInRow >= FIRST_AHEAD) this.#readAhead(highWaterMarkBytes)
    }

    const taken = this.#rest.take(size)
    if (this.#rest.isEmpty) this.#rest = undefined
    return taken
  }

  seek(target: Bytes): void {
    const bytes = copyOf(target)
    this.#position = { target: bytes }
    this.#rest = this.#ahead = undefined
    this.#pagesInRow = 0
    this.#seeks++
    if (!this.#isOpen) return
    if (!this.#isNarrowed) {
      this.#quietly(Ask.seek, bytes)
      return
    }
    // The target may lie before the keys that this cursor was made for.
    this.#quietly(Ask.closeCursor)
    this.forgotten()
  }

  close(): void {
    this.#link.removeResource(this.#handle)
    if (this.#isOpen) this.#quietly(Ask.closeCursor)
  }

  forgotten(): void {
    this.#isOpen = false
    this.#pages = 0
  }

  #readAhead(highWaterMarkBytes: number): void {
    const grown = Math.min(highWaterMarkBytes * GROWTH ** this.#pagesInRow, MAX_PAGE_BYTES)
    // Whoever bounds what is read ahead means it.
    const bytes =
      'highWaterMarkBytes' in this.#options ? highWaterMarkBytes : Math.max(grown, highWaterMarkBytes)
    this.#ahead = this.#fetch(MANY, bytes)
    // Whoever reads next hears of the failure; perhaps nobody does.
    this.#ahead.catch(() => {})
  }

  async #fetch(size: number, highWaterMarkBytes: number): Promise<ReadPage> {
    const seeks = this.#seeks
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      if (!this.#isOpen) this.#open()
      try {
        const number = this.#pages++
        const { last, ...page } = await this.#link.ask(
          'with session',
          [Ask.read, 0, this.#handle, number, size, highWaterMarkBytes],
          readPage
        )
        if (last !== null && seeks === this.#seeks) this.#position = { after: last }
        return page
      } catch (error) {
        const isWanted = seeks === this.#seeks
        const isLost = (error as CodedError<string>).code === 'NET_SESSION_LOST' && !this.#isOpen
        if (isWanted && isLost && this.#snapshot === undefined) continue
        // What the server read for this page may be lost, so reading on would leave it out.
        if (isWanted) this.#failure ??= error
        throw this.#failure ?? error
      }
    }
  }

  #open(): void {
    const snapshot = this.#snapshot?.handle ?? null
    this.#isOpen = true
    const { reverse } = this.#options
    let range = this.#options
    this.#isNarrowed = this.#position !== undefined && 'after' in this.#position
    if (this.#position !== undefined && 'after' in this.#position) {
      const { after } = this.#position
      range = reverse ? { ...range, lt: after, lte: undefined } : { ...range, gt: after, gte: undefined }
    }
    this.#quietly(Ask.cursor, wireRange(range), reverse, partsCodes[this.#parts], snapshot)
    if (this.#position !== undefined && 'target' in this.#position)
      this.#quietly(Ask.seek, this.#position.target)
  }

  /** Asks for something whose failure the next read will report. */
  #quietly(kind: number, ...parts: unknown[]): void {
    this.#link.ask('with session', [kind, 0, this.#handle, ...parts]).catch((error) => {
      if ((error as CodedError<string>).code !== 'NET_SESSION_LOST') this.#failure ??= error
    })
  }
}

/** The options, with bounds of their own: they are needed again if the session is lost. */
function copied(options: CursorOptions): CursorOptions {
  const copy = { ...options }
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    if (options[name] !== undefined) copy[name] = copyOf(options[name])
  }
  return copy
}

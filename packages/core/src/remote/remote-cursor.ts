/**
 * A cursor on the other side of a connection. It survives that side: another one goes on after the last key. A cursor that
 * reads on and on asks for the next page before it is wanted, and for larger ones.
 */

import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page } from '../backend.js'
import type { RemoteCodec, RemoteConnection } from './connection.js'
import type { RemoteState } from './handles.js'
import { type FarPage, PageRest } from './page-rest.js'
import type { RemoteSnapshot } from './remote-snapshot.js'

/** From this page on, the next one is asked for in advance. A short range has been read before. */
const FIRST_AHEAD = 2

/** Pages grow up to this, so that a distant server does not make a scan wait for each few entries. */
const MAX_PAGE_BYTES = 256 * 1024

const GROWTH = 2

/** Entries in a page that is asked for in advance: as many as fit. */
const MANY = 100_000

export class RemoteCursor implements BackendCursor, RemoteState {
  readonly #connection: RemoteConnection
  readonly #codec: RemoteCodec
  readonly #options: CursorOptions
  readonly #parts: CursorParts
  readonly #snapshot: RemoteSnapshot | undefined
  /** The formats of the parts of an entry. */
  readonly #formats: readonly string[]
  /** Where the next page begins: after this key, or at the target of a seek. Undefined at the beginning. */
  #position: { after: Uint8Array } | { target: Uint8Array } | undefined
  #isOpen = false
  /** The number by which the other side knows the cursor, if it is open. */
  #handle = 0
  /** Whether the cursor on the other side has only what is left of the range. */
  #isNarrowed = false
  #failure: unknown
  /** Counts the pages, so that the other side can tell a repeated request from the next one. */
  #pages = 0
  /** Counts the pages since the beginning, or since the last seek. */
  #pagesInRow = 0
  /** Counts the seeks. A page that was asked for before one is not wanted any more. */
  #seeks = 0
  /** The next page, if it was asked for in advance. */
  #ahead: Promise<FarPage> | undefined
  /** What is left of a page that had more entries than were wanted. */
  #rest: PageRest | undefined

  constructor(
    connection: RemoteConnection,
    codec: RemoteCodec,
    options: CursorOptions,
    parts: CursorParts,
    snapshot: RemoteSnapshot | undefined
  ) {
    const { keyEncoding = 'view', valueEncoding = 'view' } = options
    const formats = { keys: [keyEncoding], values: [valueEncoding], entries: [keyEncoding, valueEncoding] }
    this.#connection = connection
    this.#codec = codec
    this.#options = copied(options)
    this.#parts = parts
    this.#snapshot = snapshot
    this.#formats = formats[parts]
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
      this.#rest = new PageRest(page, this.#formats, this.#codec.textsOf)
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
      this.#seekThere(bytes)
      return
    }
    // The target may lie before the keys that this cursor was made for.
    this.close()
    this.forgotten()
  }

  close(): void {
    if (!this.#isOpen) return
    this.#connection.handles.remove(this.#handle)
    this.#connection.tell(this.#codec.closeCursor(this.#handle))
  }

  /** The other side knows the cursor no more. */
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

  async #fetch(size: number, highWaterMarkBytes: number): Promise<FarPage> {
    const seeks = this.#seeks
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      if (!this.#isOpen) this.#open()
      try {
        const page = await this.#connection.ask(
          'with state',
          this.#codec.read(this.#handle, this.#pages++, size, highWaterMarkBytes)
        )
        if (page.last !== null && seeks === this.#seeks) this.#position = { after: page.last }
        return page
      } catch (error) {
        const isWanted = seeks === this.#seeks
        if (isWanted && !this.#isOpen && this.#mayGoOnAfter(error)) continue
        // What the other side read for this page may be lost, so reading on would leave it out.
        if (isWanted) this.#failure ??= error
        throw this.#failure ?? error
      }
    }
  }

  #open(): void {
    const snapshot = this.#snapshot?.handle
    this.#isOpen = true
    const { reverse } = this.#options
    let range = this.#options
    this.#isNarrowed = this.#position !== undefined && 'after' in this.#position
    if (this.#position !== undefined && 'after' in this.#position) {
      const { after } = this.#position
      range = reverse ? { ...range, lt: after, lte: undefined } : { ...range, gt: after, gte: undefined }
    }
    this.#handle = this.#connection.handles.add(this)
    this.#connection.tell(this.#codec.cursor(this.#handle, range, this.#parts, snapshot), this.#failed)
    if (this.#position !== undefined && 'target' in this.#position) this.#seekThere(this.#position.target)
  }

  #seekThere(target: Uint8Array): void {
    this.#connection.tell(this.#codec.seek(this.#handle, target), this.#failed)
  }

  /** Something that nobody waits for has failed. The next read says so. */
  readonly #failed = (error: unknown): void => {
    this.#failure ??= error
  }

  /** Whether a new cursor may go on in the state that it finds. */
  #mayGoOnAfter(error: unknown): boolean {
    return this.#snapshot === undefined && this.#connection.isStateLost(error)
  }
}

const encoder = new TextEncoder()

/** The options, with bounds of their own: they are needed again if the other side is lost. */
function copied(options: CursorOptions): CursorOptions {
  const copy = { ...options }
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    if (options[name] !== undefined) copy[name] = copyOf(options[name])
  }
  return copy
}

function copyOf(part: Bytes): Uint8Array {
  return typeof part === 'string' ? encoder.encode(part) : Uint8Array.from(part)
}

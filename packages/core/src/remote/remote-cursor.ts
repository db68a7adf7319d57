/**
 * A cursor on the other side of a connection. It survives that side: another one continues after the last key. During a
 * long scan, it requests the next page in advance, and larger pages.
 */

import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page } from '../backend.js'
import type { RemoteCodec, RemoteConnection } from './connection.js'
import type { RemoteState } from './handles.js'
import { type FarPage, PageRest } from './page-rest.js'
import type { RemoteSnapshot } from './remote-snapshot.js'

/** From this page on, the next one is requested in advance. A short range ends before it. */
const FIRST_AHEAD = 2

/** Pages grow up to this, so that a scan of a distant server does not wait once per few entries. */
const MAX_PAGE_BYTES = 256 * 1024

const GROWTH = 2

/** Entries in a page that is requested in advance: as many as fit. */
const MANY = 100_000

/** A cursor on the other side of a connection. If that side is lost, it continues on another one after the last key. */
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
  /** The number that identifies the cursor to the other side, if it is open. */
  #handle = 0
  /** Whether the cursor on the other side covers only the rest of the range. */
  #isNarrowed = false
  #failure: unknown
  /** Counts the pages, so that the other side can tell a repeated request from the next one. */
  #pages = 0
  /** Counts the pages since the beginning, or since the last seek. */
  #pagesInRow = 0
  /** Counts the seeks. A page that was requested before one is no longer wanted. */
  #seeks = 0
  /** The next page, if it was requested in advance. */
  #ahead: Promise<FarPage> | undefined
  /** The rest of a page that had more entries than were wanted. */
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
      // The snapshot is gone. The first read reports that.
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

  /** Called when the other side no longer knows the cursor. */
  forgotten(): void {
    this.#isOpen = false
    this.#pages = 0
  }

  #readAhead(highWaterMarkBytes: number): void {
    const grown = Math.min(highWaterMarkBytes * GROWTH ** this.#pagesInRow, MAX_PAGE_BYTES)
    // An explicit bound on reading ahead is respected.
    const bytes =
      'highWaterMarkBytes' in this.#options ? highWaterMarkBytes : Math.max(grown, highWaterMarkBytes)
    this.#ahead = this.#fetch(MANY, bytes)
    // The next read reports the failure; there may be none.
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

  /** A call that no caller waits for has failed. The next read reports that. */
  readonly #failed = (error: unknown): void => {
    this.#failure ??= error
  }

  /** Whether a new cursor may continue in the state that it finds. */
  #mayGoOnAfter(error: unknown): boolean {
    return this.#snapshot === undefined && this.#connection.isStateLost(error)
  }
}

const encoder = new TextEncoder()

/** The options, with copies of their bounds: they are needed again if the other side is lost. */
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

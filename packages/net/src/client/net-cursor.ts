/** A cursor on the server, as the client sees it. It survives the session: another one goes on after the last key. */

import {
  type CodedError,
  type CursorOptions,
  type CursorParts,
  type FarPage,
  PagedCursor,
  type TextAt
} from 'terrace-core'
import { copyOf } from '../protocol/bytes.js'
import { Ask, type RequestMessage } from '../protocol/messages.js'
import { contentsCodes, type WirePage, wireRange } from '../protocol/parts.js'
import type { Link } from './link.js'
import type { NetSnapshot } from './net-snapshot.js'

export class NetCursor extends PagedCursor {
  readonly #link: Link
  readonly #parts: CursorParts
  readonly #snapshot: NetSnapshot | undefined
  #handle = 0

  constructor(link: Link, options: CursorOptions, parts: CursorParts, snapshot: NetSnapshot | undefined) {
    super(options, parts)
    this.#link = link
    this.#parts = parts
    this.#snapshot = snapshot
    this.begin()
  }

  /** Only in Node is there text. */
  protected readonly textsOf =
    (bytes: Uint8Array): TextAt =>
    (start, end) =>
      (bytes as Buffer).toString('utf8', start, end)

  protected openThere(range: CursorOptions): void {
    const snapshot = this.#snapshot?.handle ?? null
    this.#handle = this.#link.handles.add(this)
    const contents = contentsCodes[this.#parts]
    this.#quietly([Ask.cursor, 0, this.#handle, wireRange(range), range.reverse, contents, snapshot])
  }

  protected readThere(page: number, size: number, highWaterMarkBytes: number): Promise<FarPage> {
    return this.#link.ask('with state', [Ask.read, 0, this.#handle, page, size, highWaterMarkBytes], pageOf)
  }

  protected seekThere(target: Uint8Array): void {
    this.#quietly([Ask.seek, 0, this.#handle, target])
  }

  protected closeThere(): void {
    this.#link.handles.remove(this.#handle)
    this.#quietly([Ask.closeCursor, 0, this.#handle])
  }

  protected mayGoOnAfter(error: unknown): boolean {
    return isLost(error) && this.#snapshot === undefined
  }

  /** Asks for something whose failure the next read will report. */
  #quietly(message: RequestMessage<'cursor' | 'seek' | 'closeCursor'>): void {
    this.#link.ask('with state', message).catch((error) => {
      if (!isLost(error)) this.fail(error)
    })
  }
}

function isLost(error: unknown): boolean {
  return (error as CodedError<string>).code === 'NET_SESSION_LOST'
}

const noBytes = new Uint8Array(0)

/** Reads a page as it travels. */
function pageOf(page: WirePage): FarPage {
  const last = page.pop() as Uint8Array | null
  const [isLast, bytes] = page
  // The chunk in which a page came holds little else, so the bytes may stay there.
  return {
    isLast,
    bytes: bytes ?? noBytes,
    lengths: page.slice(2) as number[],
    last: last === null ? null : copyOf(last)
  }
}

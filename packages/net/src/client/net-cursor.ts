/** A cursor on the server, as the client sees it. It survives the session: another one goes on after the last key. */

import type { Bytes, BackendCursor, CodedError, CursorOptions, CursorParts, Page } from 'terrace-core'
import { Ask, partsCodes, wireRange } from '../protocol/messages.js'
import type { Link, Resource } from './link.js'
import type { NetSnapshot } from './net-snapshot.js'

/** A page as it travels: a page, then the last key in it. */
type WirePage = [...Page, last: Uint8Array | null]

export class NetCursor implements BackendCursor, Resource {
  readonly #link: Link
  readonly #options: CursorOptions
  readonly #parts: CursorParts
  readonly #snapshot: NetSnapshot | undefined
  readonly #handle: number
  /** Where the next page begins: after this key, or at the target of a seek. Undefined at the beginning. */
  #position: { after: Uint8Array } | { target: Uint8Array } | undefined
  #isOpen = false
  #failure: unknown
  /** Counts the pages, so that the server can tell a repeated request from the next one. */
  #pages = 0

  constructor(link: Link, options: CursorOptions, parts: CursorParts, snapshot: NetSnapshot | undefined) {
    this.#link = link
    this.#options = copied(options)
    this.#parts = parts
    this.#snapshot = snapshot
    this.#handle = link.addResource(this)
    this.#open()
  }

  async read(size: number, highWaterMarkBytes: number): Promise<Page> {
    for (;;) {
      if (!this.#isOpen) this.#open()
      try {
        return this.#accept(
          await this.#link.ask<WirePage>('with session', Ask.read, this.#handle, this.#pages++, size, highWaterMarkBytes)
        )
      } catch (error) {
        const isLost = (error as CodedError<string>).code === 'NET_SESSION_LOST'
        if (!isLost || this.#snapshot !== undefined) throw this.#failure ?? error
      }
    }
  }

  seek(target: Bytes): void {
    this.#position = { target: Uint8Array.from(target as Uint8Array) }
    if (this.#isOpen) this.#quietly(Ask.seek, target)
  }

  close(): void {
    this.#link.removeResource(this.#handle)
    if (this.#isOpen) this.#quietly(Ask.closeCursor)
  }

  forgotten(): void {
    this.#isOpen = false
    this.#pages = 0
  }

  #open(): void {
    this.#isOpen = true
    const snapshot = this.#snapshot?.handle ?? null
    const { reverse } = this.#options
    let range = this.#options
    if (this.#position !== undefined && 'after' in this.#position) {
      const { after } = this.#position
      range = reverse ? { ...range, lt: after, lte: undefined } : { ...range, gt: after, gte: undefined }
    }
    this.#quietly(Ask.cursor, wireRange(range), reverse, partsCodes[this.#parts], snapshot)
    if (this.#position !== undefined && 'target' in this.#position) this.#quietly(Ask.seek, this.#position.target)
  }

  /** Asks for something whose failure the next read will report. */
  #quietly(kind: number, ...parts: unknown[]): void {
    this.#link.ask('with session', kind, this.#handle, ...parts).catch((error) => {
      if ((error as CodedError<string>).code !== 'NET_SESSION_LOST') this.#failure ??= error
    })
  }

  #accept(page: WirePage): Page {
    const last = page.pop() as Uint8Array | null
    if (last !== null) this.#position = { after: last }
    return page as unknown as Page
  }
}

/** The options, with bounds of their own: they are needed again if the session is lost. */
function copied(options: CursorOptions): CursorOptions {
  const copy = { ...options }
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    if (options[name] !== undefined) copy[name] = Uint8Array.from(options[name] as Uint8Array)
  }
  return copy
}

/** A page of a cursor on the other side of a connection, and the rest of it while its entries are handed out a few at a time. */

import type { Bytes, Page } from '../backend.js'

/** A page that the other side has read. */
export interface FarPage {
  /** Whether the end was reached. */
  readonly isLast: boolean
  /** The parts of all entries, end to end. */
  readonly bytes: Uint8Array
  /** The length of each part, in bytes. */
  readonly lengths: readonly number[]
  /** The key of the last entry; null if the page is empty. */
  readonly last: Uint8Array | null
}

/** Decodes the bytes of a page from `start` to `end` as text. Neither position ever decreases. */
export type TextAt = (start: number, end: number) => string

/** Prepares to decode the bytes of a page as text. Its parts are `averageBytes` long on average. */
export type TextsOf = (bytes: Uint8Array, averageBytes: number) => TextAt

export class PageRest {
  readonly #page: FarPage
  readonly #formats: readonly string[]
  /** Undefined if no part is to be text. */
  readonly #textAt: TextAt | undefined
  #next = 0
  #offset = 0

  /** @param formats - Those of the parts of an entry. */
  constructor(page: FarPage, formats: readonly string[], textsOf: TextsOf) {
    this.#page = page
    this.#formats = formats
    const { bytes, lengths } = page
    if (formats.includes('utf8')) this.#textAt = textsOf(bytes, bytes.length / lengths.length)
  }

  get isEmpty(): boolean {
    return this.#next === this.#page.lengths.length
  }

  /** Takes up to `size` entries. */
  take(size: number): Page {
    const { isLast, bytes, lengths } = this.#page
    const end = Math.min(this.#next + size * this.#formats.length, lengths.length)
    const start = this.#offset
    const textAt = this.#textAt
    const parts: Array<Bytes | number> =
      textAt === undefined ? lengths.slice(this.#next, end) : this.#texts(end, textAt)
    if (textAt === undefined) for (const length of parts) this.#offset += length as number
    this.#next = end
    return [isLast && this.isEmpty, bytes.subarray(start, this.#offset), ...parts]
  }

  /** The parts up to an index, each in its format. */
  #texts(end: number, textAt: TextAt): Bytes[] {
    const { bytes, lengths } = this.#page
    const formats = this.#formats
    const parts: Bytes[] = new Array(end - this.#next)
    for (let i = this.#next; i < end; i++) {
      const start = this.#offset
      this.#offset += lengths[i] as number
      parts[i - this.#next] =
        formats[i % formats.length] === 'utf8'
          ? textAt(start, this.#offset)
          : bytes.subarray(start, this.#offset)
    }
    return parts
  }
}

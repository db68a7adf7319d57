/** A page of a cursor on the other side of a connection, and what is left of it when its entries are handed out a few at a time. */

import type { Bytes, Page } from './backend.js'

/** What the other side has read. */
export interface FarPage {
  /** Whether the end was reached. */
  readonly isLast: boolean
  /** The parts of all entries, end to end. */
  readonly bytes: Uint8Array
  /** Their lengths. */
  readonly lengths: readonly number[]
  /** The key of the last entry, which the page keeps; null if there is none. */
  readonly last: Uint8Array | null
}

/** Makes text of the bytes from `start` to `end`. */
export type TextAt = (bytes: Uint8Array, start: number, end: number) => string

export class PageRest {
  readonly #page: FarPage
  readonly #formats: readonly string[]
  readonly #textAt: TextAt
  readonly #hasText: boolean
  #next = 0
  #offset = 0

  /** @param formats - Those of the parts of an entry. */
  constructor(page: FarPage, formats: readonly string[], textAt: TextAt) {
    this.#page = page
    this.#formats = formats
    this.#textAt = textAt
    this.#hasText = formats.includes('utf8')
  }

  get isEmpty(): boolean {
    return this.#next === this.#page.lengths.length
  }

  /** Takes up to `size` entries. */
  take(size: number): Page {
    const { isLast, bytes, lengths } = this.#page
    const end = Math.min(this.#next + size * this.#formats.length, lengths.length)
    const start = this.#offset
    const parts: Array<Bytes | number> = this.#hasText ? this.#texts(end) : lengths.slice(this.#next, end)
    if (!this.#hasText) for (const length of parts) this.#offset += length as number
    this.#next = end
    return [isLast && this.isEmpty, bytes.subarray(start, this.#offset), ...parts]
  }

  /** The parts up to an index, each in its format. */
  #texts(end: number): Bytes[] {
    const { bytes, lengths } = this.#page
    const formats = this.#formats
    const parts: Bytes[] = new Array(end - this.#next)
    for (let i = this.#next; i < end; i++) {
      const start = this.#offset
      this.#offset += lengths[i] as number
      parts[i - this.#next] =
        formats[i % formats.length] === 'utf8'
          ? this.#textAt(bytes, start, this.#offset)
          : bytes.subarray(start, this.#offset)
    }
    return parts
  }
}

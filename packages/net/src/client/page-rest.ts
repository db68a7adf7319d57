/** A page of a cursor, as it has arrived, and what is left of it when its entries are handed out a few at a time. */

import type { Bytes, Page } from 'terrace-core'
import { copyOf } from '../protocol/bytes.js'

/** What the server has read. */
export interface ReadPage {
  readonly isLast: boolean
  /** The parts of all entries, end to end. */
  readonly bytes: Uint8Array
  /** Their lengths. */
  readonly lengths: number[]
}

const noBytes = new Uint8Array(0)

/** Reads a page as it travels: whether it is the last one, the bytes, the lengths, the last key. */
export function readPage(
  page: [boolean, Uint8Array | null, ...number[], Uint8Array | null]
): ReadPage & { readonly last: Uint8Array | null } {
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

export class PageRest {
  readonly #page: ReadPage
  readonly #formats: readonly string[]
  readonly #hasText: boolean
  #next = 0
  #offset = 0

  /** @param formats - Those of the parts of an entry. */
  constructor(page: ReadPage, formats: readonly string[]) {
    this.#page = page
    this.#formats = formats
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
          ? (bytes as Buffer).toString('utf8', start, this.#offset)
          : bytes.subarray(start, this.#offset)
    }
    return parts
  }
}

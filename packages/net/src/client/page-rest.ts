/** Hands out a page of a cursor in smaller ones. */

import type { Page } from 'terrace-core'

/** Where the lengths of the parts begin in a page. */
const FIRST_PART = 2

export class PageRest {
  readonly #page: Page
  /** How many parts make one entry. */
  readonly #stride: number
  #nextPart = FIRST_PART
  #offset = 0

  constructor(page: Page, stride: number) {
    this.#page = page
    this.#stride = stride
  }

  get isEmpty(): boolean {
    return this.#nextPart === this.#page.length
  }

  /** Takes up to `size` entries. */
  take(size: number): Page {
    const page = this.#page
    const end = Math.min(this.#nextPart + size * this.#stride, page.length)
    const isAll = this.#nextPart === FIRST_PART && end === page.length
    if (isAll) {
      this.#nextPart = end
      return page
    }

    const lengths = page.slice(this.#nextPart, end) as number[]
    const start = this.#offset
    for (const length of lengths) this.#offset += length
    this.#nextPart = end
    return [page[0] && this.isEmpty, page[1]?.subarray(start, this.#offset), ...lengths]
  }
}

/** Texts that lie one after another in memory. A call of the platform's decoder costs as much as decoding some kilobytes. */

import { decodeText, textAt } from './utf8.js'

/** Texts up to this average length are faster to decode many at once. */
export const SHORT_BYTES = 256

/**
 * How much is decoded together. V8 slices the decoded text, so a program that keeps one text keeps all of them. This bounds how
 * much that is.
 */
const TOGETHER_BYTES = 1024

export class Texts {
  readonly #memory: Uint8Array
  /** What was decoded together, and where it is in memory. */
  #text = ''
  #start = 0
  #end = 0
  #areTogether: boolean

  /** @param areTogether - Whether to decode many at once. */
  constructor(memory: Uint8Array, areTogether: boolean) {
    this.#memory = memory
    this.#areTogether = areTogether
  }

  /** The text of these bytes, which must follow those of the last call. */
  at(start: number, end: number): string {
    if (end > this.#end) {
      if (!this.#areTogether || end - start > TOGETHER_BYTES) return textAt(this.#memory, start, end)
      this.#decode(start)
      if (!this.#areTogether) return textAt(this.#memory, start, end)
    }
    return this.#text.slice(start - this.#start, end - this.#start)
  }

  /**
   * Decodes what begins here. Where a character has more than one byte, the text is shorter than its bytes, and offsets in the
   * bytes would not fit the text: the rest is then decoded one by one.
   */
  #decode(start: number): void {
    this.#start = start
    this.#end = Math.min(start + TOGETHER_BYTES, this.#memory.length)
    this.#text = decodeText(this.#memory, start, this.#end)
    if (this.#text.length === this.#end - start) return
    this.#areTogether = false
    this.#end = 0
  }
}

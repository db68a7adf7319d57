/** Lines of an export as bytes: `{"key":…,"value":…}`, as `terrace export` writes and `terrace import` reads them. Nearly all keys and values are printable ASCII, which is written without a detour over text. */

import { utf8 } from '../bytes.js'
import { jsonOfBytes } from '../escape.js'

const KEY = utf8('{"key":')
const VALUE = utf8(',"value":')
const END = utf8('}\n')
const QUOTE = 0x22
const BACKSLASH = 0x5c

const FIRST_SIZE = 1 << 20

export class LineWriter {
  #bytes = new Uint8Array(FIRST_SIZE)
  /** Number of bytes so far. */
  size = 0

  /** Adds an entry. */
  add(key, value) {
    this.#write(KEY)
    this.#writePart(key)
    this.#write(VALUE)
    this.#writePart(value)
    this.#write(END)
  }

  /** Takes the lines so far. */
  take() {
    const lines = this.#bytes.slice(0, this.size)
    this.size = 0
    return lines
  }

  #write(bytes) {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.size)
    this.size += bytes.length
  }

  #writePart(part) {
    // Each byte may need a backslash.
    this.#reserve(2 * part.length + 2)
    const end = writeQuoted(part, this.#bytes, this.size)
    if (end === undefined) this.#write(utf8(jsonOfBytes(part)))
    else this.size = end
  }

  #reserve(more) {
    if (this.size + more <= this.#bytes.length) return
    const larger = new Uint8Array(2 * (this.size + more))
    larger.set(this.#bytes.subarray(0, this.size))
    this.#bytes = larger
  }
}

/** Writes printable ASCII as a string of JSON. Returns where it ends; undefined if there is any other byte. */
function writeQuoted(part, target, start) {
  let at = start
  target[at++] = QUOTE
  for (let index = 0; index < part.length; index++) {
    const byte = part[index]
    if (byte < 0x20 || byte > 0x7e) return undefined
    if (byte === QUOTE || byte === BACKSLASH) target[at++] = BACKSLASH
    target[at++] = byte
  }
  target[at++] = QUOTE
  return at
}

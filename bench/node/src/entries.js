/** Keys and values. Both are computed from a number, so that whatever a database returns can be checked. */

import { Random } from './random.js'

export const KEY_SIZE = 16

/** Larger than the window of any compressor in use here, so that values do not repeat within it. */
const POOL_SIZE = 1 << 20
const PIECE = 100
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const ZERO = 48

/** @typedef {string | Uint8Array} Bytes */

export class Entries {
  #pool
  #valueSize
  #keyEncoding
  #valueEncoding
  #repeats
  #digits = Buffer.alloc(KEY_SIZE)

  /**
   * @param {object} settings
   * @param {number} settings.valueSize
   * @param {number} [settings.compressiblePercent] how much of each value repeats what comes before it
   * @param {string} settings.keyEncoding
   * @param {string} settings.valueEncoding
   * @param {number} settings.seed
   */
  constructor({ valueSize, compressiblePercent = 0, keyEncoding, valueEncoding, seed }) {
    const random = new Random(seed)
    const pool = Buffer.alloc(POOL_SIZE + valueSize)
    // As in db_bench: in pieces of 100 bytes, this many bytes are new and the others repeat them.
    const newBytes = Math.max(1, PIECE - compressiblePercent)
    for (let i = 0; i < pool.length; i++) {
      const isNew = i % PIECE < newBytes
      pool[i] = isNew ? ALPHABET.charCodeAt(random.below(ALPHABET.length)) : pool[i - newBytes]
    }
    this.#pool = pool
    this.#repeats = compressiblePercent > 0
    this.#valueSize = valueSize
    this.#keyEncoding = keyEncoding
    this.#valueEncoding = valueEncoding
  }

  /**
   * A key of 16 digits, so that keys are in the order of their numbers.
   * @param {number} index
   */
  key(index) {
    this.#write(index)
    return copyAs(this.#keyEncoding, this.#digits, 0, KEY_SIZE)
  }

  /**
   * A key that is never written, between those of `index` and of the next number.
   * @param {number} index
   */
  missingKey(index) {
    this.#write(index)
    this.#digits[KEY_SIZE - 1] = 'x'.charCodeAt(0)
    return copyAs(this.#keyEncoding, this.#digits, 0, KEY_SIZE)
  }

  /**
   * Characters that do not compress, except as far as `compressiblePercent` says.
   * @param {number} index
   */
  value(index) {
    const start = this.#start(index)
    return copyAs(this.#valueEncoding, this.#pool, start, start + this.#valueSize)
  }

  /**
   * Whether `value` is that of `index`.
   * @param {number} index
   * @param {unknown} value
   */
  holds(index, value) {
    const start = this.#start(index)
    if (typeof value === 'string') {
      return (
        isText(this.#valueEncoding) && value === this.#pool.toString('latin1', start, start + this.#valueSize)
      )
    }
    if (!(value instanceof Uint8Array) || isText(this.#valueEncoding)) return false
    return this.#pool.compare(value, 0, value.length, start, start + this.#valueSize) === 0
  }

  /**
   * The number that a key was made from; NaN for anything else.
   * @param {unknown} key
   */
  indexOf(key) {
    const text =
      typeof key === 'string' ? key : Buffer.from(/** @type {Uint8Array} */ (key)).toString('latin1')
    return text.length === KEY_SIZE ? Number(text) : Number.NaN
  }

  /** @param {number} index */
  #write(index) {
    let rest = index
    for (let at = KEY_SIZE - 1; at >= 0; at--) {
      const next = Math.floor(rest / 10)
      this.#digits[at] = ZERO + rest - next * 10
      rest = next
    }
  }

  /** @param {number} index */
  #start(index) {
    // Fibonacci hashing: neighbouring numbers get positions far from each other.
    const start = (Math.imul(index + 1, 0x9e3779b1) >>> 0) % POOL_SIZE
    // Starts at the beginning of a piece, so that its repetitions are not cut off.
    return this.#repeats ? start - (start % PIECE) : start
  }
}

/** @param {string} encoding */
function isText(encoding) {
  return encoding !== 'buffer' && encoding !== 'view'
}

/**
 * Returns a copy. Strings are made from bytes: a string put together from parts is made whole only when it is first used, which
 * would be within the measured time.
 * @param {string} encoding
 * @param {Buffer} bytes
 * @param {number} start
 * @param {number} end
 * @returns {Bytes}
 */
function copyAs(encoding, bytes, start, end) {
  if (encoding === 'buffer') return Buffer.from(bytes.subarray(start, end))
  if (encoding === 'view') return new Uint8Array(bytes.subarray(start, end))
  return bytes.toString('latin1', start, end)
}

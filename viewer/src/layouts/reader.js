/** Reads encoded fields from bytes. Nothing is trusted: a read where the bytes end throws {@link NotDecoded}. */

/** The bytes are not in the encoding. */
export class NotDecoded extends Error {}

/** Runs a decoder. Returns undefined if the bytes are not in its encoding. */
export function decoded(decode) {
  try {
    return decode()
  } catch (error) {
    if (error instanceof NotDecoded) return undefined
    throw error
  }
}

const latin1 = new TextDecoder('iso-8859-1')
const utf16 = { big: new TextDecoder('utf-16be'), little: new TextDecoder('utf-16le') }

export class Reader {
  #bytes
  #view
  at = 0

  constructor(bytes) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left() {
    return this.#bytes.length - this.at
  }

  /** The next `count` bytes. */
  bytes(count) {
    if (!(count >= 0 && count <= this.left)) throw new NotDecoded()
    this.at += count
    return this.#bytes.subarray(this.at - count, this.at)
  }

  byte() {
    return this.bytes(1)[0]
  }

  /** The next byte, which is read again. */
  peek() {
    if (this.left === 0) throw new NotDecoded()
    return this.#bytes[this.at]
  }

  #take(count) {
    this.bytes(count)
    return this.at - count
  }

  int16 = (little = true) => this.#view.getInt16(this.#take(2), little)
  int32 = (little = true) => this.#view.getInt32(this.#take(4), little)
  uint32 = (little = true) => this.#view.getUint32(this.#take(4), little)
  int64 = (little = true) => this.#view.getBigInt64(this.#take(8), little)
  float = (little = true) => this.#view.getFloat32(this.#take(4), little)
  double = (little = true) => this.#view.getFloat64(this.#take(8), little)

  /** An unsigned integer of `width` bytes, little-endian, as far as a number is exact. */
  integer(width) {
    const value = this.bytes(width).reduceRight((sum, byte) => sum * 256 + byte, 0)
    if (!Number.isSafeInteger(value)) throw new NotDecoded()
    return value
  }

  /** A number of seven bits a byte, lowest first, as far as a number is exact. */
  varint() {
    const value = this.bigVarint()
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new NotDecoded()
    return Number(value)
  }

  /** A number of seven bits a byte, lowest first, of at most ten bytes. */
  bigVarint() {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new NotDecoded()
  }

  utf16(bytes, order) {
    if (bytes % 2 !== 0) throw new NotDecoded()
    return utf16[order].decode(this.bytes(bytes))
  }

  latin1(bytes) {
    // TextDecoder takes Latin-1 for Windows-1252, which differs from 0x80 to 0x9f.
    const piece = this.bytes(bytes)
    return piece.some((byte) => byte >= 0x80 && byte < 0xa0)
      ? Array.from(piece, (byte) => String.fromCharCode(byte)).join('')
      : latin1.decode(piece)
  }

  /** Says that all must have been read. */
  end() {
    if (this.left > 0) throw new NotDecoded()
  }
}

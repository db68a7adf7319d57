/** NBT, Minecraft's trees of named values, in Bedrock's little-endian form; one or more of them, end to end. */

import { decoded, NotDecoded, Reader } from '../layouts/reader.js'

const MOST_DEPTH = 200
const END = 0
const LIST = 9
const COMPOUND = 10

/** The values as what JSON can say; undefined if the bytes are not NBT. */
export const nbtOf = (bytes) =>
  decoded(() => {
    const reader = new Reader(bytes)
    const roots = []
    do {
      const type = reader.byte()
      // A list of only numbers may begin with any byte: roots are compounds or lists.
      if (type !== COMPOUND && type !== LIST) throw new NotDecoded()
      const name = text(reader)
      const value = payload(reader, type, 0)
      roots.push(name === '' ? value : { [name]: value })
    } while (reader.left > 0)
    return roots.length === 1 ? roots[0] : roots
  })

function text(reader) {
  const length = reader.int16() & 0xffff
  return new TextDecoder().decode(reader.bytes(length))
}

function payload(reader, type, depth) {
  if (depth > MOST_DEPTH) throw new NotDecoded()
  switch (type) {
    case 1:
      return (reader.byte() << 24) >> 24
    case 2:
      return reader.int16()
    case 3:
      return reader.int32()
    case 4:
      return shown(reader.int64())
    case 5:
      return Number(reader.float().toPrecision(7))
    case 6:
      return reader.double()
    case 7:
      return Array.from(reader.bytes(reader.int32()), (byte) => (byte << 24) >> 24)
    case 8:
      return text(reader)
    case LIST: {
      const item = reader.byte()
      return items(reader, (left) => (item === END && left > 0 ? fail() : payload(reader, item, depth + 1)))
    }
    case COMPOUND: {
      const members = {}
      for (let tag = reader.byte(); tag !== END; tag = reader.byte()) {
        const name = text(reader)
        const value = payload(reader, tag, depth + 1)
        Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
      }
      return members
    }
    case 11:
      return items(reader, () => reader.int32())
    case 12:
      return items(reader, () => shown(reader.int64()))
    default:
      return fail()
  }
}

/** As many items as a number says. Each takes at least a byte, so that a false number ends soon. */
function items(reader, read) {
  const array = []
  for (let left = reader.int32(); left > 0; left--) array.push(read(left))
  return array
}

/** JSON has no integers beyond 2^53. */
const shown = (value) => (BigInt(Number(value)) === value ? Number(value) : String(value))

function fail() {
  throw new NotDecoded()
}

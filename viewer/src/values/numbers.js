/** Short values as numbers: each way in which programs store them. */

const WIDTHS = { 1: 'Int8', 2: 'Int16', 4: 'Int32', 8: 'BigInt64' }

/** What a value is as a number, as pairs of a name and a text; empty if its length is that of no number. */
export function numbersOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const name = WIDTHS[bytes.length]
  const rows = []
  const add = (title, value) => rows.push([title, String(value)])
  if (name !== undefined) {
    const unsigned = name.replace('Int', 'Uint')
    const ends =
      bytes.length === 1
        ? [['', true]]
        : [
            [', little-endian', true],
            [', big-endian', false]
          ]
    for (const [end, little] of ends) {
      add(`unsigned${end}`, view[`get${unsigned}`](0, little))
      add(`signed${end}`, view[`get${name}`](0, little))
    }
    if (bytes.length >= 4) {
      const float = bytes.length === 4 ? 'getFloat32' : 'getFloat64'
      for (const [end, little] of ends) add(`floating point${end}`, view[float](0, little))
    }
    if (bytes.length === 8) for (const [end, little] of ends) addDate(rows, end, view.getBigInt64(0, little))
  }
  const varint = varintOf(bytes)
  if (varint !== undefined && bytes.length > 1) add('varint', varint)
  return rows
}

/** Milliseconds or microseconds since 1970 in this century or the one before. */
function addDate(rows, end, value) {
  for (const [unit, perMs] of [
    ['ms', 1n],
    ['µs', 1000n]
  ]) {
    const ms = Number(value / perMs)
    if (ms > 0 && ms < Date.UTC(2100, 0) && ms > Date.UTC(1980, 0)) {
      rows.push([`${unit} since 1970${end}`, new Date(ms).toISOString()])
    }
  }
}

/** The number of seven bits a byte, lowest first, that takes all of the bytes; undefined if it is none. */
export function varintOf(bytes) {
  if (bytes.length === 0 || bytes.length > 10) return undefined
  let value = 0n
  for (const [index, byte] of bytes.entries()) {
    const isLast = index === bytes.length - 1
    if (byte < 0x80 !== isLast) return undefined
    value |= BigInt(byte & 0x7f) << BigInt(7 * index)
  }
  return value
}

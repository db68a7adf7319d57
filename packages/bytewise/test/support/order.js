// The intended order of keys, without bytes. The order of the encoded keys is compared with it.

const KINDS = [
  (key) => key === null,
  (key) => key === false,
  (key) => key === true,
  (key) => typeof key === 'number',
  (key) => typeof key === 'bigint',
  (key) => key instanceof Date,
  (key) => key instanceof Uint8Array,
  ...[
    Int8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
    Float32Array,
    Float64Array
  ].map((Class) => (key) => key instanceof Class),
  (key) => typeof key === 'string',
  (key) => key instanceof Set,
  (key) => Array.isArray(key),
  (key) => key instanceof Map,
  (key) => key === undefined
]

const kindOf = (key) => KINDS.findIndex((is) => is(key))

/** Negative if `a` comes before `b`, positive if it comes after, 0 if they are the same key. */
export function compareKeys(a, b) {
  const kind = kindOf(a)
  if (kind < 0) throw new Error('not a key')
  const difference = kind - kindOf(b)
  if (difference !== 0) return difference
  if (a instanceof Date) return compareScalars(a.getTime(), b.getTime())
  if (typeof a === 'number' || typeof a === 'bigint') return compareScalars(a, b)
  if (typeof a === 'string') return compareLists(codePoints(a), codePoints(b), compareScalars)
  if (ArrayBuffer.isView(a)) return compareLists([...a], [...b], compareScalars)
  if (Array.isArray(a)) return compareLists(a, b, compareKeys)
  if (a instanceof Set) return compareLists(members(a), members(b), compareKeys)
  if (a instanceof Map) return compareLists(entries(a), entries(b), compareKeys)
  return 0
}

function compareScalars(a, b) {
  return a < b ? -1 : a > b ? 1 : 0
}

function compareLists(a, b, compare) {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = compare(a[i], b[i])
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const codePoints = (text) => Array.from(text, (character) => character.codePointAt(0))

/** In order, without duplicates: two dates of the same time are two members of a JavaScript set, but one key. */
const members = (set) =>
  [...set].sort(compareKeys).filter((key, i, all) => i === 0 || compareKeys(all[i - 1], key) !== 0)

const entries = (map) => [...map].sort(([a], [b]) => compareKeys(a, b)).flat(1)

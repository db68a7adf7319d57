/**
 * Typed arrays other than `Uint8Array`, an extension of this package. Their elements are big-endian, with some bits changed so
 * that the bytes sort as the numbers do. The result is written, and read, as bytes are.
 */

import { codedError, damaged } from './errors.js'
import { MAX_KEY_SIZE_BYTES } from './limits.js'
import { tooLong, viewOf } from './output.js'
import { FIRST_TYPED_ARRAY } from './type-bytes.js'

/** The typed arrays that are encoded as types of their own. A `Uint8Array` is encoded as bytes. */
export type TypedArray =
  | Int8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array

/** How negative numbers are marked: not at all, by the sign bit of an integer, or by that of a double. */
type Signs = 'none' | 'integer' | 'float'

/** A class, with the names of the `DataView` methods that write and read its big-endian elements. */
interface Kind {
  Class: new (length: number) => TypedArray
  name: string
  width: number
  signs: Signs
  element:
    | 'Int8'
    | 'Uint8'
    | 'Int16'
    | 'Uint16'
    | 'Int32'
    | 'Uint32'
    | 'BigInt64'
    | 'BigUint64'
    | 'Float32'
    | 'Float64'
}

function kind(
  Class: Kind['Class'] & { BYTES_PER_ELEMENT: number },
  element: Kind['element'],
  signs: Signs
): Kind {
  return { Class, name: Class.name, width: Class.BYTES_PER_ELEMENT, signs, element }
}

/** In the order of their type bytes. New ones go at the end. */
const KINDS = [
  kind(Int8Array, 'Int8', 'integer'),
  kind(Uint8ClampedArray, 'Uint8', 'none'),
  kind(Int16Array, 'Int16', 'integer'),
  kind(Uint16Array, 'Uint16', 'none'),
  kind(Int32Array, 'Int32', 'integer'),
  kind(Uint32Array, 'Uint32', 'none'),
  kind(BigInt64Array, 'BigInt64', 'integer'),
  kind(BigUint64Array, 'BigUint64', 'none'),
  kind(Float32Array, 'Float32', 'float'),
  kind(Float64Array, 'Float64', 'float')
]

/** Identifies typed arrays of any realm: a getter that no object can fake. */
const nameOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag
)?.get as (this: unknown) => string | undefined

/** The class name of a typed array, even if it is of another realm; undefined for anything else. */
export function typedArrayName(value: unknown): string | undefined {
  return nameOf.call(value)
}

/** The type byte of typed arrays with that name; undefined if they have none. */
export function typedArrayByte(name: string): number | undefined {
  const index = KINDS.findIndex((kind) => kind.name === name)
  return index < 0 ? undefined : FIRST_TYPED_ARRAY + index
}

/** The elements as bytes that sort as the numbers do. */
export function toSortedBytes(typeByte: number, array: TypedArray): Uint8Array {
  if (array.byteLength > MAX_KEY_SIZE_BYTES) throw tooLong()
  const { name, width, signs, element } = KINDS[typeByte - FIRST_TYPED_ARRAY] as Kind
  const bytes = new Uint8Array(array.byteLength)
  const view = viewOf(bytes)
  for (let i = 0; i < array.length; i++) {
    const value = array[i] as number | bigint
    if (Number.isNaN(value)) {
      throw codedError('BYTEWISE_INVALID_VALUE', `NaN cannot be ordered (at index ${i} of a ${name})`)
    }
    // Adding zero turns -0 into 0.
    view[`set${element}`](i * width, (typeof value === 'number' ? value + 0 : value) as never)
    flip(bytes, i * width, width, signs, 0)
  }
  return bytes
}

/** Makes a typed array from the result of {@link toSortedBytes}; `offset` is for errors. */
export function fromSortedBytes(typeByte: number, sorted: Uint8Array, offset: number): TypedArray {
  const { Class, name, width, signs, element } = KINDS[typeByte - FIRST_TYPED_ARRAY] as Kind
  if (sorted.length % width !== 0) throw damaged(`A ${name} ends within an element`, offset)
  const bytes = new Uint8Array(sorted)
  const view = viewOf(bytes)
  const array = new Class(bytes.length / width)
  for (let i = 0; i < array.length; i++) {
    flip(bytes, i * width, width, signs, 0x80)
    const value = view[`get${element}`](i * width)
    if (Number.isNaN(value) || Object.is(value, -0)) throw damaged(`A ${name} contains NaN or -0`, offset)
    array[i] = value as never
  }
  return array
}

/** Changes the bytes of a number so that they sort as numbers do; with a `negativeBit` of 0x80, changes them back. */
function flip(bytes: Uint8Array, start: number, width: number, signs: Signs, negativeBit: 0 | 0x80): void {
  if (signs === 'none') return
  const first = bytes[start] as number
  if (signs === 'float' && (first & 0x80) !== negativeBit) {
    for (let i = start; i < start + width; i++) bytes[i] = ~(bytes[i] as number)
  } else {
    bytes[start] = first ^ 0x80
  }
}

/**
 * Typed arrays other than `Uint8Array`, an extension of ours: their elements big-endian, with the bits changed that make
 * bytes sort as the numbers do. What is made here is then written, and was read, as bytes are.
 */

import { codedError, damaged } from './errors.js'
import { MAX_KEY_SIZE_BYTES } from './limits.js'
import { tooLong, viewOf } from './output.js'
import { FIRST_TYPED_ARRAY } from './type-bytes.js'

/** The typed arrays that have a type byte. `Uint8Array` is bytes. */
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

/** In the order of their type bytes. New ones go to the end. */
const CLASSES = [
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
] as const

const NAMES = CLASSES.map(({ name }) => name)

/** What tells typed arrays apart wherever they come from: a getter that no object can pretend to have. */
const nameOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag
)?.get as (this: unknown) => string | undefined

/** The name of a typed array's class, also if it is of another realm; undefined for anything else. */
export function typedArrayName(value: unknown): string | undefined {
  return nameOf.call(value)
}

/** The type byte of the typed arrays of that name; undefined for those that have none. */
export function typedArrayByte(name: string): number | undefined {
  const index = NAMES.indexOf(name)
  return index < 0 ? undefined : FIRST_TYPED_ARRAY + index
}

/** The elements as bytes in order. */
export function toSortedBytes(array: TypedArray): Uint8Array {
  if (array.byteLength > MAX_KEY_SIZE_BYTES) throw tooLong()
  const { BYTES_PER_ELEMENT: width } = array
  const name = typedArrayName(array) as string
  const signs = signsOf(name)
  const bytes = new Uint8Array(array.byteLength)
  const view = viewOf(bytes)
  for (let i = 0; i < array.length; i++) {
    const element = array[i] as number | bigint
    if (Number.isNaN(element)) {
      throw codedError('BYTEWISE_INVALID_VALUE', `NaN has no place in the order (at index ${i} of a ${name})`)
    }
    // Adding zero makes 0 of -0.
    set(view, name, i * width, typeof element === 'number' ? element + 0 : element)
    flip(bytes, i * width, width, signs, 0)
  }
  return bytes
}

/** A typed array of what {@link toSortedBytes} made; `offset` is for errors. */
export function fromSortedBytes(typeByte: number, sorted: Uint8Array, offset: number): TypedArray {
  const Class = CLASSES[typeByte - FIRST_TYPED_ARRAY] as (typeof CLASSES)[number]
  const { BYTES_PER_ELEMENT: width, name } = Class
  if (sorted.length % width !== 0) throw damaged(`A ${name} ends within an element`, offset)
  const signs = signsOf(name)
  const bytes = new Uint8Array(sorted)
  const view = viewOf(bytes)
  const array = new Class(bytes.length / width)
  for (let i = 0; i < array.length; i++) {
    flip(bytes, i * width, width, signs, 0x80)
    const element = get(view, name, i * width)
    if (Number.isNaN(element) || Object.is(element, -0)) throw damaged(`A ${name} with NaN or -0`, offset)
    array[i] = element as never
  }
  return array
}

/** How negative numbers are told: by no bit, by one of an integer, by one of a double. */
type Signs = 'none' | 'integer' | 'float'

function signsOf(name: string): Signs {
  if (name.startsWith('Float')) return 'float'
  return name.startsWith('Int') || name === 'BigInt64Array' ? 'integer' : 'none'
}

/** Makes bytes that sort as numbers of those of a number, or, with a `negativeBit` of 0x80, those of a number again. */
function flip(bytes: Uint8Array, start: number, width: number, signs: Signs, negativeBit: 0 | 0x80): void {
  if (signs === 'none') return
  const first = bytes[start] as number
  if (signs === 'float' && (first & 0x80) !== negativeBit) {
    for (let i = start; i < start + width; i++) bytes[i] = ~(bytes[i] as number)
  } else {
    bytes[start] = first ^ 0x80
  }
}

function set(view: DataView, name: string, offset: number, element: number | bigint): void {
  switch (name) {
    case 'Int8Array':
    case 'Uint8ClampedArray':
      return view.setUint8(offset, element as number)
    case 'Int16Array':
    case 'Uint16Array':
      return view.setUint16(offset, element as number)
    case 'Int32Array':
    case 'Uint32Array':
      return view.setUint32(offset, element as number)
    case 'BigInt64Array':
    case 'BigUint64Array':
      return view.setBigUint64(offset, element as bigint)
    case 'Float32Array':
      return view.setFloat32(offset, element as number)
    default:
      return view.setFloat64(offset, element as number)
  }
}

function get(view: DataView, name: string, offset: number): number | bigint {
  switch (name) {
    case 'Int8Array':
      return view.getInt8(offset)
    case 'Uint8ClampedArray':
      return view.getUint8(offset)
    case 'Int16Array':
      return view.getInt16(offset)
    case 'Uint16Array':
      return view.getUint16(offset)
    case 'Int32Array':
      return view.getInt32(offset)
    case 'Uint32Array':
      return view.getUint32(offset)
    case 'BigInt64Array':
      return view.getBigInt64(offset)
    case 'BigUint64Array':
      return view.getBigUint64(offset)
    case 'Float32Array':
      return view.getFloat32(offset)
    default:
      return view.getFloat64(offset)
  }
}

/** What the parts of messages may be, and how the receiver of a message takes them. docs/net-protocol.md lists these types. */

import type { Bytes, CursorParts, Range } from 'terrace-core'
import { copyOf, toBytes } from './bytes.js'
import { protocolError } from './errors.js'
import type { Message } from './frame.js'

/** What a part may be: `Sent` is what its sender packs, `Read` what its receiver makes of it. */
export interface PartType<Sent, Read = Sent> {
  /** What docs/net-protocol.md calls it. */
  readonly name: string
  isValid(part: unknown): boolean
  /** Makes of a valid part what its receiver works with; missing if that is the part itself. */
  read?(part: unknown): Read
  /** The type of a part that may be nil instead. */
  readonly orNil?: PartType<unknown>
  /** The type of each item of an array. */
  readonly each?: PartType<unknown>
  /** Only for the compiler: there is no such value. */
  readonly types?: { readonly sent: Sent; readonly read: Read }
}

// The types of parts are interfaces, so that the declaration of a table names them. Otherwise it would have what they are made of as the
// newest compiler writes it, which older ones cannot read.

export interface BytesType extends PartType<Uint8Array> {}

/** Keys and values, or starts and ends, that alternate. */
type Alternating = ReadonlyArray<Uint8Array | null>

export interface OperationsType extends PartType<Alternating, Array<Uint8Array | null>> {}

export interface IntervalsType extends PartType<Alternating, WireInterval[]> {}

export interface OptionalType<Type extends PartType<unknown>>
  extends PartType<SentAs<Type> | null, ReadAs<Type> | undefined> {}

export interface ArrayType<Each extends PartType<unknown>>
  extends PartType<ReadonlyArray<SentAs<Each>>, Array<SentAs<Each>>> {}

/** The parts of a message in their order, with their names. */
export type Parts = ReadonlyArray<readonly [name: string, type: PartType<unknown>]>

type SentAs<Type extends PartType<unknown>> = NonNullable<Type['types']>['sent']
type ReadAs<Type extends PartType<unknown>> = NonNullable<Type['types']>['read']

/** Text in the place of bytes, which it becomes as it is packed. */
type WithText<Part> = Part extends Uint8Array
  ? Bytes
  : Part extends readonly unknown[]
    ? { [I in keyof Part]: WithText<Part[I]> }
    : Part

/** Parts as their sender packs them. */
export type SentParts<P extends Parts> = { -readonly [I in keyof P]: SentAs<P[I][1]> }

/** Parts as the sender gives them to `packBytes()`. */
export type TextParts<P extends Parts> = { -readonly [I in keyof P]: WithText<SentAs<P[I][1]>> }

/** Parts as their receiver gets them. */
export type ReadParts<P extends Parts> = { -readonly [I in keyof P]: ReadAs<P[I][1]> }

/** A result as the server has it. What is undefined travels as nil. */
export type GivenResult<Type extends PartType<unknown>> = OrUndefined<SentAs<Type>>

type OrUndefined<Value> = Value extends Uint8Array
  ? Value
  : Value extends readonly unknown[]
    ? { [I in keyof Value]: OrUndefined<Value[I]> }
    : Value extends null
      ? Value | undefined
      : Value

/** A result as it travels. */
export type SentResult<Type extends PartType<unknown>> = SentAs<Type>

/**
 * Takes the parts of a message, and checks their types. Parts after them are ignored: a later version may have added them.
 *
 * @param first - The index of the first one.
 * @throws NET_PROTOCOL if one is of another type.
 */
export function readParts<P extends Parts>(parts: P, message: Message, first = 1): ReadParts<P> {
  const read = new Array<unknown>(parts.length)
  for (let i = 0; i < parts.length; i++) read[i] = readPart(parts[i] as Parts[number], message[first + i])
  return read as ReadParts<P>
}

/**
 * Takes one part.
 *
 * @throws NET_PROTOCOL if it is of another type.
 */
export function readPart<Read>(
  { 0: name, 1: type }: readonly [name: string, type: PartType<unknown, Read>],
  part: unknown
): Read {
  if (!type.isValid(part)) throw protocolError(`The part '${name}' of a message must be: ${type.name}`)
  return type.read === undefined ? (part as Read) : type.read(part)
}

const isBytes = (part: unknown): part is Uint8Array => part instanceof Uint8Array
const isBytesOrNil = (part: unknown): boolean => part === null || isBytes(part)
const isNumber = (part: unknown): boolean => Number.isSafeInteger(part) && (part as number) >= 0

/** Counts something, or tells requests and events apart. */
export const number: PartType<number> = { name: 'number', isValid: isNumber }

/** What a client calls an iterator, a snapshot or a subscription. */
export const handle: PartType<number> = { name: 'handle', isValid: isNumber }

export const boolean: PartType<boolean> = {
  name: 'boolean',
  isValid: (part) => typeof part === 'boolean'
}

export const string: PartType<string> = { name: 'string', isValid: (part) => typeof part === 'string' }

/** A token. Anything else than a string proves as little as none. */
export const token: PartType<string | null, string | undefined> = {
  name: 'string or nil',
  isValid: () => true,
  read: (part) => (typeof part === 'string' ? part : undefined),
  orNil: string
}

/** A key or a value, for example. */
export const bytes: BytesType = { name: 'bytes', isValid: isBytes }

/** Values of any kind. */
export const array: PartType<readonly unknown[], unknown[]> = { name: 'array', isValid: Array.isArray }

export const map: PartType<object, Record<string, unknown>> = {
  name: 'map',
  isValid: (part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part) && !(part instanceof Uint8Array)
}

export const anything: PartType<unknown> = { name: 'anything', isValid: () => true }

/** What a request returns that returns nothing. */
export const nothing: PartType<void> = { name: 'nil', isValid: isMissing }

/** A part that may be nil, which its receiver gets as undefined. */
export function optional<Type extends PartType<unknown>>(type: Type): OptionalType<Type> {
  const { read } = type as PartType<unknown, ReadAs<Type>>
  return {
    name: `${type.name} or nil`,
    isValid: (part) => isMissing(part) || type.isValid(part),
    read:
      read === undefined
        ? (part) => (part ?? undefined) as ReadAs<Type> | undefined
        : (part) => (isMissing(part) ? undefined : read(part)),
    orNil: type
  }
}

/** An array of items of one type. The receiver gets the items unconverted. */
export function arrayOf<Each extends PartType<unknown>>(each: Each): ArrayType<Each> {
  return {
    name: `array of ${each.name}`,
    isValid: (part) => Array.isArray(part) && part.every(each.isValid),
    each
  }
}

/** Alternating keys and values; a value of nil deletes. */
export const operations: OperationsType = {
  name: 'operations',
  isValid: areOperations
}

/** Intervals as alternating starts and ends; an end of nil is after every key. */
export const intervals: IntervalsType = {
  name: 'intervals',
  // The same form as operations: each key may be followed by nil.
  isValid: areOperations,
  read: (part) => {
    const bounds = part as ReadonlyArray<Uint8Array | null>
    const starts = bounds.filter((_, i) => i % 2 === 0) as Uint8Array[]
    return starts.map((start, i) => [start, bounds[2 * i + 1] as Uint8Array | null])
  }
}

type WireInterval = readonly [start: Uint8Array, end: Uint8Array | null]

/** The bounds of a range on the wire: nil where there is none. */
export type WireRange = readonly [
  gte: Uint8Array | null,
  gt: Uint8Array | null,
  lte: Uint8Array | null,
  lt: Uint8Array | null
]

export const range: PartType<WireRange> = {
  name: 'range',
  isValid: (part) => Array.isArray(part) && part.length === 4 && part.every(isBytesOrNil),
  // Copied, because a cursor keeps them.
  read: (part) => (part as WireRange).map((bound) => bound && copyOf(bound)) as unknown as WireRange
}

/** Converts a range to its form on the wire. */
export function wireRange({ gte, gt, lte, lt }: Range): WireRange {
  const bound = (key: Bytes | undefined): Uint8Array | null => (key === undefined ? null : toBytes(key))
  return [bound(gte), bound(gt), bound(lte), bound(lt)]
}

/** A value and the version of its entry. */
export const entry: PartType<readonly [value: Uint8Array, version: number]> = {
  name: 'entry',
  isValid: (part) => Array.isArray(part) && part.length === 2 && isBytes(part[0]) && isNumber(part[1])
}

/** The contents of a cursor, by their codes on the wire. */
export const contentsCodes: Readonly<Record<CursorParts, number>> = { keys: 1, values: 2, entries: 3 }

const contentsByCode = new Map(Object.entries(contentsCodes).map(([name, code]) => [code, name]))

export const contents: PartType<number, CursorParts> = {
  name: 'contents',
  isValid: (part) => contentsByCode.has(part as number),
  read: (part) => contentsByCode.get(part as number) as CursorParts
}

/** A page of a cursor: its entries, concatenated as bytes (nil if there are none), and the length of each piece. */
export type WirePage = [
  isLast: boolean,
  bytes: Uint8Array | null,
  ...lengths: number[],
  lastKey: Uint8Array | null
]

export const page: PartType<WirePage> = {
  name: 'page',
  isValid: (part) => {
    if (!Array.isArray(part) || part.length < 3) return false
    const [isLast, bytes, ...rest] = part
    return (
      typeof isLast === 'boolean' && isBytesOrNil(bytes) && isBytesOrNil(rest.pop()) && rest.every(isNumber)
    )
  }
}

function isMissing(part: unknown): boolean {
  return part === null || part === undefined
}

function areOperations(part: unknown): boolean {
  if (!Array.isArray(part) || part.length % 2 === 1) return false
  for (let i = 0; i < part.length; i += 2) {
    if (!isBytes(part[i]) || !isBytesOrNil(part[i + 1])) return false
  }
  return true
}

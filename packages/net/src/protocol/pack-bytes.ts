/**
 * Packs the messages that make up most of the traffic: a few numbers, keys and values. The result unpacks like that of
 * `packFrame()`, but no object is made for each key and value, and text is encoded in place.
 */

import { hasBuffers } from './bytes.js'
import { type Message, packFrame, WHOLE, writeHeader } from './frame.js'
import { FRAME_HEADER_BYTES } from './limits.js'

type Part = string | Uint8Array

/** The most bytes that a small number, a boolean, nil, or the length of bytes or of a list takes. */
const MAX_SMALL_BYTES = 5

/** Longer text is measured; shorter text is given the most room it may need. */
const LONG_TEXT = 256

/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3

const MAX_U32 = 2 ** 32 - 1

/** What is packed piece by piece. A message of a few of these is an array. */
type Piece = number | boolean | null | Part | readonly Piece[]

/**
 * Packs a message of bytes, lists of bytes, and small numbers as one frame. Text is taken as bytes.
 *
 * @param message - Its numbers are not negative.
 */
export function packBytes(message: readonly [kind: number, ...parts: Piece[]]): Uint8Array {
  if (message.some(isLarge)) return packFrame(bytesOnly(message) as Message)
  let size = FRAME_HEADER_BYTES + MAX_SMALL_BYTES
  for (const piece of message) size += sizeOf(piece)
  const frame: Uint8Array = hasBuffers ? Buffer.allocUnsafe(size) : new Uint8Array(size)
  let end = putLength(frame, FRAME_HEADER_BYTES, message.length, LIST)
  for (const piece of message) end = put(frame, end, piece)
  writeHeader(frame, end, WHOLE)
  return frame.subarray(0, end)
}

/** Whether a piece is or has a number that takes more than 32 bits. */
function isLarge(piece: Piece): boolean {
  return typeof piece === 'number' ? piece > MAX_U32 : Array.isArray(piece) && piece.some(isLarge)
}

function bytesOnly(piece: Piece): unknown {
  if (Array.isArray(piece)) return piece.map(bytesOnly)
  return typeof piece === 'string' ? Buffer.from(piece) : piece
}

function sizeOf(piece: Piece): number {
  if (typeof piece === 'string') return MAX_SMALL_BYTES + roomFor(piece)
  if (piece instanceof Uint8Array) return MAX_SMALL_BYTES + piece.length
  if (typeof piece !== 'object' || piece === null) return MAX_SMALL_BYTES
  let size = MAX_SMALL_BYTES
  for (const each of piece) size += sizeOf(each)
  return size
}

function roomFor(text: string): number {
  return text.length < LONG_TEXT ? MAX_UNIT_BYTES * text.length : Buffer.byteLength(text)
}

/** Puts a piece at an offset, and returns where it ends. */
function put(frame: Uint8Array, at: number, piece: Piece): number {
  if (typeof piece === 'string') return putText(frame, at, piece)
  if (typeof piece === 'number') return putNumber(frame, at, piece)
  if (piece instanceof Uint8Array) {
    const start = putLength(frame, at, piece.length, BYTES)
    frame.set(piece, start)
    return start + piece.length
  }
  if (typeof piece === 'object' && piece !== null) {
    let end = putLength(frame, at, piece.length, LIST)
    for (const each of piece) end = put(frame, end, each)
    return end
  }
  frame[at] = piece === null ? 0xc0 : piece ? 0xc3 : 0xc2
  return at + 1
}

function putText(frame: Uint8Array, at: number, text: string): number {
  // How long it is is known afterwards, and whether that takes one byte must be known before.
  const room = roomFor(text)
  const start = at + (room < 0x100 ? 2 : MAX_SMALL_BYTES)
  const length = (frame as Buffer).write(text, start)
  if (room < 0x100) {
    frame[at] = 0xc4
    frame[at + 1] = length
  } else {
    frame[at] = 0xc6
    putU32(frame, at + 1, length)
  }
  return start + length
}

interface Lengths {
  /** The first byte of a length below the limit holds the length itself. */
  readonly smallLimit: number
  readonly small: number
  /** The first byte before a length of one byte; undefined if there is no such form. */
  readonly u8: number | undefined
  readonly u16: number
  readonly u32: number
}

const LIST: Lengths = { smallLimit: 16, small: 0x90, u8: undefined, u16: 0xdc, u32: 0xdd }
const BYTES: Lengths = { smallLimit: 0, small: 0, u8: 0xc4, u16: 0xc5, u32: 0xc6 }
const NUMBER: Lengths = { smallLimit: 128, small: 0, u8: 0xcc, u16: 0xcd, u32: 0xce }

function putNumber(frame: Uint8Array, at: number, value: number): number {
  return putLength(frame, at, value, NUMBER)
}

function putLength(frame: Uint8Array, at: number, length: number, forms: Lengths): number {
  if (length < forms.smallLimit) {
    frame[at] = forms.small | length
    return at + 1
  }
  if (length < 0x100 && forms.u8 !== undefined) {
    frame[at] = forms.u8
    frame[at + 1] = length
    return at + 2
  }
  if (length < 0x10000) {
    frame[at] = forms.u16
    frame[at + 1] = length >>> 8
    frame[at + 2] = length
    return at + 3
  }
  frame[at] = forms.u32
  putU32(frame, at + 1, length)
  return at + 5
}

/** MessagePack's numbers begin with the highest byte. */
function putU32(frame: Uint8Array, at: number, value: number): void {
  frame[at] = value >>> 24
  frame[at + 1] = value >>> 16
  frame[at + 2] = value >>> 8
  frame[at + 3] = value
}

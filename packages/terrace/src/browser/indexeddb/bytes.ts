/** Keys and values as this back-end represents them: as bytes, and keys as text in the same order. */

import type { Bytes } from 'terrace-core'
import { textAt } from '../utf8.js'

const encoder = new TextEncoder()

/** What IndexedDB has stored, as bytes. Before its version 5, level-js stored text. */
export function bytesFrom(stored: unknown): Uint8Array {
  if (stored instanceof Uint8Array) return stored
  if (stored instanceof ArrayBuffer) return new Uint8Array(stored)
  return encoder.encode(stored as string)
}

/** The bytes of an argument in a separate buffer: IndexedDB stores the whole buffer, and the caller may change it. */
export function bytesOf(argument: Bytes): Uint8Array<ArrayBuffer> {
  return typeof argument === 'string' ? encoder.encode(argument) : new Uint8Array(argument)
}

/** Whether two values are the same. Undefined stands for none. */
export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Bytes as a result in the requested format. */
export function inFormat(bytes: Uint8Array, format: string | undefined): Bytes {
  return format === 'utf8' ? textAt(bytes, 0, bytes.length) : bytes
}

/** The most arguments of one call. */
const PIECE_BYTES = 4096

/** A key as text with one character per byte, which sorts as its bytes do. */
export function identityOf(key: Uint8Array): string {
  let identity = ''
  for (let start = 0; start < key.length; start += PIECE_BYTES) {
    const piece = key.length <= PIECE_BYTES ? key : key.subarray(start, start + PIECE_BYTES)
    identity += String.fromCharCode.apply(null, piece as unknown as number[])
  }
  return identity
}

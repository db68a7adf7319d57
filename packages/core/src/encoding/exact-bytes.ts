/** Text and bytes in the form that back-ends rely on. */

import type { Format } from '../backend.js'
import { Buffer } from '../buffer.js'

/** V8 keeps no larger array on its heap. Asking one for its buffer would move it, which takes longer than copying it. */
const ON_HEAP_BYTES = 64

/**
 * Exactly the bytes that a view shows, whatever its kind and realm, in memory that no other thread writes. Returns the view itself
 * where possible.
 *
 * @param format - `buffer` if the result has to be a `Buffer`.
 * @throws TypeError if the memory of the view was transferred.
 */
export function exactBytes(view: ArrayBufferView, format: Format): Uint8Array {
  if (view instanceof Uint8Array) {
    // Most views can be returned unchanged.
    const isOffHeap = view.length > ON_HEAP_BYTES || (view.length > 0 && view instanceof Buffer)
    if (isOffHeap && view.buffer instanceof ArrayBuffer) {
      return format === 'buffer' ? bufferOf(view) : view
    }
    // Throws if the memory was transferred, which looks like an empty array otherwise.
    const copy = new Uint8Array(view)
    return format === 'buffer' ? bufferOf(copy) : copy
  }

  const { buffer, byteOffset, byteLength } = view
  const shown = new Uint8Array(buffer, byteOffset, byteLength)
  // Memory that is shared, or of another realm.
  const bytes = buffer instanceof ArrayBuffer ? shown : new Uint8Array(shown)
  return format === 'buffer' ? bufferOf(bytes) : bytes
}

function bufferOf(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const textEncoder = new TextEncoder()

/** The UTF-8 of a text. */
export function bytesOfText(text: string, format: Format): Uint8Array {
  return format === 'buffer' ? Buffer.from(text) : textEncoder.encode(text)
}

const loneSurrogate = /\p{Surrogate}/u

/** Whether UTF-8 can hold the text: whether it has no half of a surrogate pair. */
export const isWellFormed: (text: string) => boolean =
  'isWellFormed' in String.prototype
    ? (text) => (text as unknown as { isWellFormed(): boolean }).isWellFormed()
    : (text) => !loneSurrogate.test(text)

/** Whether a string is hexadecimal digits, two for each byte. */
export function isHex(text: string): boolean {
  return text.length % 2 === 0 && !/[^0-9a-f]/i.test(text)
}

/** Whether a string is base64 of bytes, with or without padding and line breaks, in the alphabet of MIME or that of URLs. */
export function isBase64(text: string): boolean {
  const digits = text.replace(/\s+/g, '').replace(/={1,2}$/, '')
  if (/[^\w+/-]/.test(digits)) return false
  // The digits after the last group of four. Bits of them that no byte has would be lost.
  const left = digits.slice(digits.length - (digits.length % 4))
  const plain = left.replaceAll('-', '+').replaceAll('_', '/')
  return Buffer.from(plain, 'base64').toString('base64').replace(/=+$/, '') === plain
}

/** The checks of arguments, with leveldown's messages, which programs match. */

import { Buffer } from './buffer.js'

/** Why a key cannot be used; undefined if it can. */
export function keyError(key: unknown): Error | undefined {
  if (typeof key === 'string') return key === '' ? new Error('key cannot be an empty String') : undefined
  if (key === null || key === undefined) return new Error('key cannot be `null` or `undefined`')
  if (Buffer.isBuffer(key)) {
    return key.length === 0 ? new Error('key cannot be an empty Buffer') : undefined
  }
  if (Array.isArray(key) && key.length === 0) return new Error('key cannot be an empty Array')
  return undefined
}

/** Why a value cannot be stored; undefined if it can. */
export function valueError(value: unknown): Error | undefined {
  return value === null || value === undefined
    ? new Error('value cannot be `null` or `undefined`')
    : undefined
}

/** A key or value in the form in which it is stored. Half of a surrogate pair becomes U+FFFD, as in leveldown. */
export function serialize(data: unknown): string | Buffer {
  if (typeof data !== 'string' && Buffer.isBuffer(data)) return data
  return wellFormed(typeof data === 'string' ? data : String(data))
}

const loneSurrogates = /\p{Surrogate}/gu

const wellFormed: (text: string) => string =
  'toWellFormed' in String.prototype
    ? (text) => (text as unknown as { toWellFormed(): string }).toWellFormed()
    : (text) => text.replace(loneSurrogates, '\ufffd')

/** @throws Error if there is no callback. */
export function assertCallback(
  callback: unknown,
  call: string
): asserts callback is (...args: never[]) => void {
  if (typeof callback !== 'function') throw new Error(`${call} requires a callback argument`)
}

/** The options of a call, whose place may hold a callback or nothing. */
export function optionsOf(options: unknown): Record<string, unknown> {
  return typeof options === 'object' && options !== null ? (options as Record<string, unknown>) : noOptions
}

/** No options at all. */
export const noOptions: Record<string, unknown> = Object.freeze({})

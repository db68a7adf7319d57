/** Keys and values in the encoding of npm's bytewise, as text of JavaScript. */

import { decode } from 'terrace-bytewise'
import { hex } from '../bytes.js'

const BUFFER = 0x60
const STRING = 0x70

/** The key as text; undefined if the bytes are not in this encoding. */
export function bytewiseText(bytes) {
  try {
    return shown(decode(bytes))
  } catch {
    return undefined
  }
}

/** The same, unless the bytes are more probably others: a text may begin like a string or a buffer, and one byte is no structure. */
export function likelyBytewiseText(bytes) {
  const isUnlikely = bytes.length < 2 || bytes[0] === BUFFER || bytes[0] === STRING
  return isUnlikely ? undefined : bytewiseText(bytes)
}

function shown(key) {
  if (key instanceof Date) return `Date ${key.toISOString()}`
  if (key instanceof Map)
    return `Map {${Array.from(key, ([name, value]) => `${shown(name)}: ${shown(value)}`).join(', ')}}`
  if (key instanceof Set) return `Set {${Array.from(key, shown).join(', ')}}`
  if (Array.isArray(key)) return `[${key.map(shown).join(', ')}]`
  if (key instanceof Uint8Array) return `0x${hex(key)}`
  if (ArrayBuffer.isView(key)) return `${key.constructor.name} [${Array.from(key).join(', ')}]`
  if (typeof key === 'string') return JSON.stringify(key)
  return typeof key === 'bigint' ? `${key}n` : String(key)
}

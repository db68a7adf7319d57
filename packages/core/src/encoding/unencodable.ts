/** The errors for keys and values that an encoding cannot store, or could not read again. */

import { Buffer } from '../buffer.js'
import { codedError } from '../errors.js'
import { exactBytes } from './exact-bytes.js'

/**
 * Why an encoding rejects data. Callers that know whether it is a key or a value make the user's error of it.
 */
export class Unencodable extends Error {}

/** @param problem - What follows the name of the encoding, such as `takes a string, not a number`. */
export function refuse(encoding: string, problem: string): never {
  throw new Unencodable(`the encoding '${encoding}' ${problem}`)
}

/** The error for a key. Errors that an encoding itself throws are returned unchanged. */
export function keyError(error: unknown, key: unknown): unknown {
  if (!(error instanceof Unencodable)) return error
  return codedError('LEVEL_INVALID_KEY', `Cannot use the key ${shown(key)}: ${error.message}`)
}

/** The same for a value, with its key if that is known. */
export function valueError(error: unknown, keys: readonly unknown[] = []): unknown {
  if (!(error instanceof Unencodable)) return error
  const what = keys.map((key) => ` of the key ${shown(key)}`).join('')
  return codedError('LEVEL_INVALID_VALUE', `Cannot store the value${what}: ${error.message}`)
}

/** The type of data, for messages. */
export function kindOf(data: unknown): string {
  if (data === null || data === undefined) return String(data)
  if (Array.isArray(data)) return 'an array'
  if (typeof data !== 'object') return `a ${typeof data}`
  const name: unknown = data.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an object of ${name}` : 'an object'
}

const MAX_SHOWN = 60

/** A key, for messages. */
function shown(key: unknown): string {
  if (typeof key === 'string') return JSON.stringify(cut(key))
  if (ArrayBuffer.isView(key)) return `0x${cut(Buffer.from(bytesOf(key)).toString('hex'))}`
  if (typeof key === 'object' && key !== null) return cut(jsonOf(key) ?? kindOf(key))
  return typeof key === 'function' ? kindOf(key) : cut(String(key))
}

function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  try {
    return exactBytes(view, 'view').subarray(0, MAX_SHOWN)
  } catch {
    return new Uint8Array(0)
  }
}

function jsonOf(key: object): string | undefined {
  try {
    return JSON.stringify(key)
  } catch {
    return undefined
  }
}

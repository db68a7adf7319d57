/** The errors of indexes. The guide lists them. */

import { Buffer } from '../buffer.js'
import { codedError, type ToolboxError } from '../errors.js'

/** Codes of the errors of indexes. */
export type IndexErrorCode =
  /** The options do not declare a valid index. */
  | 'TOOLBOX_INDEX_INVALID'
  /** The database already has an index of this name. */
  | 'TOOLBOX_INDEX_EXISTS'
  /** The database's hooks cannot read old values, or the database stores only text and cannot store bytes. */
  | 'TOOLBOX_INDEX_UNSUPPORTED'
  /** A value cannot be indexed; `cause` is the reason, and `key` is its key. */
  | 'TOOLBOX_INDEX_VALUE'
  /** Another key already has this value in a unique index. */
  | 'TOOLBOX_UNIQUE'
  /** The index is not built yet and cannot be queried. */
  | 'TOOLBOX_INDEX_NOT_READY'
  /** `get` or `getKey` was called on an index that is not unique. */
  | 'TOOLBOX_INDEX_NOT_UNIQUE'
  /** The options of a query do not form a valid range. */
  | 'TOOLBOX_INDEX_RANGE'
  /** The index was used after `drop()`. */
  | 'TOOLBOX_INDEX_DROPPED'

/** An error of an index. */
export interface IndexError extends ToolboxError {
  /** The machine-readable reason. */
  code: IndexErrorCode
  /** The name of the index. */
  index: string
}

/** The error of a write that would give a value of a unique index to a second key. */
export interface UniqueError extends IndexError {
  /** The machine-readable reason. */
  code: 'TOOLBOX_UNIQUE'
  /** The indexed value. */
  value: unknown
  /** The key that already has the value. */
  key: unknown
  /** The key whose write was refused. */
  refusedKey: unknown
}

/**
 * Makes an error of the index named `index`.
 *
 * @internal
 */
export function indexError(
  code: IndexErrorCode,
  index: string,
  message: string,
  cause?: unknown
): IndexError {
  return Object.assign(codedError(code, `Index ${index}: ${message}`, cause), { index }) as IndexError
}

/**
 * Makes the error about a value that cannot be indexed.
 *
 * @internal
 */
export function valueError(index: string, key: unknown, cause: unknown): IndexError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const message = `the value of key ${shown(key)} cannot be indexed: ${reason}`
  return Object.assign(indexError('TOOLBOX_INDEX_VALUE', index, message, cause), { key })
}

/**
 * Makes the error about a value that another key has.
 *
 * @internal
 */
export function uniqueError(index: string, value: unknown, key: unknown, refusedKey: unknown): UniqueError {
  const message = `${shown(value)} already belongs to key ${shown(key)}, so key ${shown(refusedKey)} cannot have it`
  const error = indexError('TOOLBOX_UNIQUE', index, message)
  return Object.assign(error, { value, key, refusedKey }) as UniqueError
}

const SHOWN_LENGTH = 100

/** The form of a value in a message. */
function shown(value: unknown): string {
  let text: string
  if (value instanceof Uint8Array) text = `0x${Buffer.from(value).toString('hex')}`
  else {
    try {
      text = JSON.stringify(value) ?? String(value)
    } catch {
      text = String(value)
    }
  }
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

/** The errors of indexes. The guide lists them. */

import { codedError, type ToolboxError } from '../errors.js'

/** Codes of the errors of indexes. */
export type IndexErrorCode =
  /** Options that declare no index. */
  | 'TOOLBOX_INDEX_INVALID'
  /** The database has an index of this name already. */
  | 'TOOLBOX_INDEX_EXISTS'
  /** A database without `getSync`, which old values are read with, or one of text that cannot store bytes. */
  | 'TOOLBOX_INDEX_UNSUPPORTED'
  /** A value that cannot be indexed: `cause` says why, `key` is its key. */
  | 'TOOLBOX_INDEX_VALUE'
  /** A value of a unique index that another key has. */
  | 'TOOLBOX_UNIQUE'
  /** A query of an index that is not built. */
  | 'TOOLBOX_INDEX_NOT_READY'
  /** `get` or `getKey` of an index that is not unique. */
  | 'TOOLBOX_INDEX_NOT_UNIQUE'
  /** Options of a query that make no range. */
  | 'TOOLBOX_INDEX_RANGE'
  /** Use of an index after `drop()`. */
  | 'TOOLBOX_INDEX_DROPPED'

/** An error of an index. */
export interface IndexError extends ToolboxError {
  code: IndexErrorCode
  /** The name of the index. */
  index: string
}

/** A value that is not unique. */
export interface UniqueError extends IndexError {
  code: 'TOOLBOX_UNIQUE'
  /** The value. */
  value: unknown
  /** The key that has it. */
  key: unknown
  /** The key that was to get it, too. */
  refusedKey: unknown
}

/** An error of the index `index`. @internal */
export function indexError(
  code: IndexErrorCode,
  index: string,
  message: string,
  cause?: unknown
): IndexError {
  return Object.assign(codedError(code, `Index ${index}: ${message}`, cause), { index }) as IndexError
}

/** An error about a value that cannot be indexed. @internal */
export function valueError(index: string, key: unknown, cause: unknown): IndexError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const message = `the value of key ${shown(key)} cannot be indexed: ${reason}`
  return Object.assign(indexError('TOOLBOX_INDEX_VALUE', index, message, cause), { key })
}

/** An error about a value that another key has. @internal */
export function uniqueError(index: string, value: unknown, key: unknown, refusedKey: unknown): UniqueError {
  const message = `${shown(value)} belongs to key ${shown(key)}, key ${shown(refusedKey)} cannot have it, too`
  const error = indexError('TOOLBOX_UNIQUE', index, message)
  return Object.assign(error, { value, key, refusedKey }) as UniqueError
}

const SHOWN_LENGTH = 100

/** A value for a message. */
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

/** What an index covers: turns the options into the function that computes the indexed values of a record. */

import { isName } from '../auxiliary-sublevel.js'
import { indexError } from './errors.js'
import type { IndexOptions } from './options.js'

/** A checked declaration. */
export interface Definition {
  readonly name: string
  readonly unique: boolean
  /** Stored in order to notice that an index was declared differently before. */
  readonly signature: string
  /** Whether `valuesOf` uses the key. */
  readonly usesKey: boolean
  /** The indexed values of a record: none, one or several. */
  readonly valuesOf: (value: unknown, key: unknown) => readonly unknown[]
}

const NOTHING: readonly unknown[] = Object.freeze([])

/**
 * Checks the declaration of an index.
 *
 * @throws TOOLBOX_INDEX_INVALID if an option is not valid.
 */
export function definitionOf<K, V>(options: IndexOptions<K, V>): Definition {
  const { name, on, multiple = false, unique = false, version = 0, wait = true } = options
  const invalid = (message: string) => indexError('TOOLBOX_INDEX_INVALID', String(name), message)
  if (!isName(name)) {
    throw invalid('the name must consist of one or more letters, digits, _ and -')
  }
  for (const [option, given] of Object.entries({ multiple, unique, wait })) {
    if (typeof given !== 'boolean') throw invalid(`the option '${option}' must be a boolean`)
  }
  if (typeof version !== 'string' && !Number.isFinite(version)) {
    throw invalid("the option 'version' must be a number or a string")
  }

  if (options.onProgress !== undefined && typeof options.onProgress !== 'function') {
    throw invalid("the option 'onProgress' must be a function")
  }

  const isFunction = typeof on === 'function'
  const isCompound = Array.isArray(on)
  if (isCompound && multiple)
    throw invalid('an index of several paths cannot be multiple: use a function instead')
  if (!isFunction && !isPath(on) && !(isCompound && on.length > 0 && on.every(isPath))) {
    throw invalid("the option 'on' must be a path, an array of paths or a function")
  }

  return {
    name,
    unique,
    signature: JSON.stringify({ on: isFunction ? null : on, multiple, unique, version }),
    usesKey: isFunction,
    valuesOf: isFunction
      ? ofFunction(on as (value: unknown, key: unknown) => unknown, multiple)
      : isCompound
        ? ofPaths(on)
        : ofPath(on as string, multiple)
  }
}

function isPath(path: unknown): path is string {
  return typeof path === 'string' && path.split('.').every((name) => name !== '')
}

function ofFunction(
  on: (value: unknown, key: unknown) => unknown,
  multiple: boolean
): Definition['valuesOf'] {
  return (value, key) => listOf(on(value, key), multiple)
}

function ofPath(path: string, multiple: boolean): Definition['valuesOf'] {
  const read = readerOf(path)
  return (value) => listOf(read(value), multiple)
}

/** A compound value, as an array. If a part is missing, the whole value is. */
function ofPaths(paths: readonly string[]): Definition['valuesOf'] {
  const readers = paths.map(readerOf)
  return (value) => {
    const parts = readers.map((read) => read(value))
    return parts.includes(undefined) ? NOTHING : [parts]
  }
}

function listOf(indexed: unknown, multiple: boolean): readonly unknown[] {
  if (indexed === undefined) return NOTHING
  if (multiple && Array.isArray(indexed)) return indexed.filter((element) => element !== undefined)
  return [indexed]
}

/** Makes a function that reads the property at `path`. It reads own properties only, never those of a prototype. */
function readerOf(path: string): (value: unknown) => unknown {
  const names = path.split('.')
  if (names.length === 1) return (value) => propertyOf(value, path)
  return (value) => {
    for (const name of names) value = propertyOf(value, name)
    return value
  }
}

function propertyOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

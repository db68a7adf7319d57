/**
 * The encodings that a database hands out. They encode to what back-ends rely on: text that UTF-8 can hold, or exactly the bytes of
 * a view. They reject what they could not store or read back. All methods, including abstract-level's, get their encodings here, so
 * no back-end sees anything else.
 */

import type { Bytes, Format } from '../backend.js'
import { Buffer } from '../buffer.js'
import type { ExactEncoding } from '../level/database.js'
import { bytesOfText, exactBytes, isBase64, isHex, isWellFormed } from './exact-bytes.js'
import { keyError, kindOf, refuse, valueError } from './unencodable.js'

/** An encoding of abstract-level. */
interface Encoding {
  readonly name: string
  /** The name without that of the format that it is transcoded to. */
  readonly commonName: string
  readonly format: Format
  encode(data: unknown): unknown
}

type Encode = (data: unknown) => Bytes

/** What users pass as an encoding, if it is not a name. */
interface Given {
  readonly name?: string
  readonly type?: string
  readonly format?: string
  readonly buffer?: boolean
  readonly encode?: (data: unknown) => unknown
}

type Role = 'key' | 'value'

/** What an exact encoding was made from. */
interface Origin {
  readonly resolved: Encoding
  readonly isBuiltIn: boolean
}

const origins = new WeakMap<object, Origin>()

/** The exact encodings of each encoding of abstract-level. */
const made = new WeakMap<Encoding, Readonly<Record<Role, ExactEncoding>>>()

/** Those of values. */
const ofValues = new WeakSet<object>()

/** The encodings of the keys or of the values of a database or sublevel. */
export class Encodings {
  readonly #role: Role
  readonly #resolve: (encoding: unknown) => Encoding
  readonly #known = new Map<unknown, ExactEncoding>()
  readonly #own: ExactEncoding

  /**
   * @param resolve - Finds or transcodes an encoding, as abstract-level does.
   * @param own - The encoding that the database was made with.
   */
  constructor(role: Role, resolve: (encoding: unknown) => unknown, own: unknown) {
    this.#role = role
    this.#resolve = resolve as (encoding: unknown) => Encoding
    this.#own = this.#of(own || 'utf8')
  }

  /** The encoding that an option names, or the database's own. */
  of(encoding: unknown): ExactEncoding {
    return encoding === undefined || encoding === null ? this.#own : this.#of(encoding)
  }

  #of(given: unknown): ExactEncoding {
    let exact = this.#known.get(given)
    if (exact === undefined) {
      exact = this.#make(given)
      this.#known.set(given, exact)
    }
    return exact
  }

  #make(given: unknown): ExactEncoding {
    const resolved = this.#resolve(inner(given))
    // What has a name, and was never given as an object, is built in.
    const isBuiltIn = isObject(given) ? origins.get(given)?.isBuiltIn === true : !userEncodings.has(resolved)
    if (!isBuiltIn) userEncodings.add(resolved)
    let exact = made.get(resolved)
    if (exact === undefined) {
      exact = exactOf(resolved, isBuiltIn, given)
      made.set(resolved, exact)
    }
    return exact[this.#role]
  }
}

/** Encodings of abstract-level that were made from those of users. They may be known by name as well. */
const userEncodings = new WeakSet<Encoding>()

/** Options with which abstract-level itself has the same encodings as {@link Encodings}. */
export function withInner<T>(options: T): T {
  if (!isObject(options)) return options
  const { keyEncoding, valueEncoding } = options as { keyEncoding?: unknown; valueEncoding?: unknown }
  if (!isObject(keyEncoding) && !isObject(valueEncoding)) return options
  return { ...options, keyEncoding: inner(keyEncoding), valueEncoding: inner(valueEncoding) }
}

/** What abstract-level is to transcode. */
function inner(given: unknown): unknown {
  return isObject(given) ? (origins.get(given)?.resolved ?? guarded(given)) : given
}

/**
 * The exact encodings of keys and of values. They differ in their errors alone, and have the same functions: programs compare
 * encodings, as abstract-level's suite does.
 */
function exactOf(resolved: Encoding, isBuiltIn: boolean, given: unknown): Record<Role, ExactEncoding> {
  const encodeAny = (isBuiltIn && builtIns[resolved.commonName]?.(resolved)) || ofUser(resolved, given)
  function encode(this: unknown, data: unknown): Bytes {
    try {
      return encodeAny(data)
    } catch (error) {
      throw isObject(this) && ofValues.has(this) ? valueError(error) : keyError(error, data)
    }
  }
  function encodeValue(value: unknown, key: unknown): Bytes {
    try {
      if (value === null || value === undefined) refuse(resolved.commonName, `cannot store ${value}`)
      return encodeAny(value)
    } catch (error) {
      throw valueError(error, [key])
    }
  }
  // Code that recognizes a built-in encoding by its function's name must still do so.
  Object.defineProperty(encode, 'name', { value: resolved.encode.name })

  const make = (): ExactEncoding => {
    // Own properties: another copy of level-transcoder copies no others.
    const exact = Object.assign(Object.create(Object.getPrototypeOf(resolved)), resolved, {
      encode,
      encodeValue
    })
    origins.set(exact, { resolved, isBuiltIn })
    return exact as ExactEncoding
  }
  const pair = { key: make(), value: make() }
  ofValues.add(pair.value)
  return pair
}

// ---- built-in encodings, as level-transcoder documents them ----

/** What the built-in encodings do, by name. Null and undefined come to them as bounds alone. */
const builtIns: Record<string, (resolved: Encoding) => Encode> = {
  utf8({ commonName: name, format }) {
    return (data) => (typeof data === 'string' ? textIn(data, format, name) : asText(data, format, name))
  },
  json({ format }) {
    return (data) => jsonIn(data, format)
  },
  buffer: bytesOrText,
  view: bytesOrText,
  hex: (resolved) => digits(resolved, 'hex', isHex, 'two hexadecimal digits for each byte'),
  base64: (resolved) => digits(resolved, 'base64', isBase64, 'base64')
}

function bytesOrText(resolved: Encoding): Encode {
  const { commonName: name, format } = resolved
  return (data) => {
    if (ArrayBuffer.isView(data)) return bytesIn(data, format, name)
    if (typeof data === 'string') return bytesOfText(wellFormed(data, name), format)
    return other(resolved, data, 'a Uint8Array or another view, a Buffer, or a string')
  }
}

function digits(
  resolved: Encoding,
  name: 'hex' | 'base64',
  isValid: (text: string) => boolean,
  wanted: string
): Encode {
  return (data) => {
    if (ArrayBuffer.isView(data)) return bytesIn(data, resolved.format, name)
    if (typeof data !== 'string')
      return other(resolved, data, `a string of ${wanted}, or a Buffer or another view`)
    return isValid(data) ? Buffer.from(data, name) : refuse(name, `takes a string of ${wanted}, not this one`)
  }
}

/** Encodes what is neither text nor bytes. */
function other(resolved: Encoding, data: unknown, wanted: string): Bytes {
  if (data === null || data === undefined) return resolved.encode(data) as Bytes
  return refuse(resolved.commonName, `takes ${wanted}, not ${kindOf(data)}`)
}

function asText(data: unknown, format: Format, name: string): Bytes {
  if (ArrayBuffer.isView(data)) {
    return format === 'utf8' ? bytesIn(data, 'buffer', name).toString() : bytesIn(data, format, name)
  }
  return typeof data === 'symbol' ? refuse(name, 'cannot store a symbol') : textIn(String(data), format, name)
}

function jsonIn(data: unknown, format: Format): Bytes {
  const text = JSON.stringify(data) as string | undefined
  if (text !== undefined) return format === 'utf8' ? text : bytesOfText(text, format)
  // An undefined bound is no bound.
  return data === undefined ? (data as never) : refuse('json', `cannot store ${kindOf(data)}`)
}

// ---- encodings of users ----

/** Whatever the encoding returns, in its format. */
function ofUser(resolved: Encoding, given: unknown): Encode {
  const { commonName: name, format } = resolved
  // What is not transcoded needs no guard.
  const isOwn = name === resolved.name && isObject(given) && !origins.has(given)
  const encode = isOwn ? (given as Required<Given>).encode.bind(resolved) : resolved.encode
  return (data) => {
    const result = encode(data)
    if (typeof result === 'string') return textIn(result, format, name)
    if (ArrayBuffer.isView(result)) {
      return format === 'utf8' ? textOf(result, name) : bytesIn(result, format, name)
    }
    return nothing(result, data, name) as never
  }
}

const guards = new WeakMap<object, object>()

/**
 * An encoding of a user, whose results are those of its format. Where it transcodes, level-transcoder would turn anything else,
 * such as `null`, into text.
 */
function guarded(given: unknown): unknown {
  if (!isObject(given) || typeof (given as Given).encode !== 'function') return given
  let guard = guards.get(given)
  if (guard === undefined) {
    const { encode, format, buffer, type } = given as Required<Given>
    const { name = type ?? 'anonymous' } = given as Given
    const isText = format === 'utf8' || (format === undefined && buffer === false)
    guard = Object.assign(Object.create(Object.getPrototypeOf(given)), given, {
      encode(this: unknown, data: unknown): unknown {
        const result = encode.call(this, data)
        if (ArrayBuffer.isView(result)) return isText ? textOf(result, name) : result
        if (typeof result !== 'string') return nothing(result, data, name)
        const text = wellFormed(result, name)
        return isText ? text : bytesOfText(text, 'buffer')
      }
    }) as object
    guards.set(given, guard)
  }
  return guard
}

/** The only result of an encoding that may be neither text nor bytes: nothing for nothing, where a bound is missing. */
function nothing(result: unknown, data: unknown, name: string): unknown {
  const isMissing = (data === null || data === undefined) && (result === null || result === undefined)
  return isMissing
    ? undefined
    : refuse(name, `returned ${kindOf(result)} for ${kindOf(data)}: it must return a string or bytes`)
}

// ---- helpers ----

function textIn(text: string, format: Format, name: string): Bytes {
  const checked = wellFormed(text, name)
  return format === 'utf8' ? checked : bytesOfText(checked, format)
}

function wellFormed(text: string, name: string): string {
  return isWellFormed(text)
    ? text
    : refuse(name, 'cannot store a string with a lone surrogate, which UTF-8 does not have')
}

function bytesIn(view: ArrayBufferView, format: Format, name: string): Uint8Array {
  try {
    return exactBytes(view, format)
  } catch {
    return refuse(name, `cannot store ${kindOf(view)} whose memory was transferred`)
  }
}

/** A mark of the byte order at the beginning is a part of the text. */
const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(view: ArrayBufferView, name: string): string {
  const bytes = bytesIn(view, 'view', name)
  try {
    return textDecoder.decode(bytes)
  } catch {
    return refuse(name, `has the format utf8, but returned ${kindOf(view)} that is not UTF-8`)
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/**
 * What a configuration may say, in code and in the file of tokens alike. What is checked is copied: changing the object later gives
 * and takes no rights.
 */

import { netError } from '../protocol/errors.js'
import type { ServerOptions, User } from './options.js'
import type { Permissions, Right } from './permissions.js'

/** Returns a copy of a value, or throws what is wrong with it. Neither names the value: it may be a secret. */
type Check<T = unknown> = (value: unknown, name: string) => T

/** The rights that a grant may name. */
export const rights: readonly Right[] = ['read', 'write', 'clear', 'watch']

/** What the name of a sublevel may hold, as in abstract-level. Anything else could name another sublevel. */
const SUBLEVEL_NAME = /^[\x23-\x7e]+$/

const text: Check = (value, name) => {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(`${name} must be a string that is not empty`)
}

const bound: Check = (value, name) => {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  throw invalid(`${name} must be a string or a Uint8Array`)
}

const sublevelName: Check = (value, name) => {
  if (typeof value === 'string' && SUBLEVEL_NAME.test(value)) return value
  throw invalid(`${name} must be a name that a sublevel can have, or a path of such names`)
}

const right: Check = (value, name) => {
  if (rights.includes(value as Right)) return value
  throw invalid(`${name} must be 'all', or some of ${rights.join(', ')}`)
}

const number: Check = (value, name) => {
  if (typeof value === 'number' && value >= 0) return value
  throw invalid(`${name} must be a number that is not negative`)
}

/** A value of a type, which is not copied. */
function ofType(type: 'boolean' | 'function' | 'object'): Check {
  return (value, name) => {
    if (typeof value === type && value !== null) return value
    throw invalid(`${name} must be ${type === 'object' ? 'an object' : `a ${type}`}`)
  }
}

function listOf(each: Check): Check {
  return (value, name) => {
    // A string is a list of its characters otherwise.
    if (!Array.isArray(value)) throw invalid(`${name} must be a list`)
    return Object.freeze(Array.from(value, (item, i) => each(item, `${name}[${i}]`)))
  }
}

function oneOrMore(each: Check): Check {
  const list = listOf(each)
  return (value, name) => {
    if (!Array.isArray(value)) return each(value, name)
    if (value.length === 0) throw invalid(`${name} must not be an empty list`)
    return list(value, name)
  }
}

function allOr(check: Check): Check {
  return (value, name) => (value === 'all' ? value : check(value, name))
}

/** An object with some fields and no others: one with a wrong name would allow more than was meant. */
function objectOf<T>(fields: Readonly<Record<string, Check>>, ...needed: string[]): Check<T> {
  return (value, name) => {
    const given = plain(value, name)
    const unknown = Object.keys(given).find((field) => !Object.hasOwn(fields, field))
    if (unknown !== undefined) {
      throw invalid(`${name} has '${unknown}', which is none of ${Object.keys(fields).join(', ')}`)
    }
    const copy: Record<string, unknown> = {}
    for (const [field, check] of Object.entries(fields)) {
      if (given[field] !== undefined) copy[field] = check(given[field], `${name}.${field}`)
      else if (needed.includes(field)) throw invalid(`${name} needs '${field}'`)
    }
    return Object.freeze(copy) as T
  }
}

function recordOf<T>(each: Check, what: string): Check<T> {
  return (value, name) => {
    const entries = Object.entries(plain(value, name)).map(([key, item], i) => {
      // A token is a secret.
      const place = what === 'token' ? `user ${i + 1}` : `${name}.${key}`
      if (key === '') throw invalid(`${place}: the ${what} is empty`)
      return [key, each(item, place)]
    })
    return Object.freeze(Object.fromEntries(entries)) as T
  }
}

function plain(value: unknown, name: string): Record<string, unknown> {
  const isList = Array.isArray(value) || value instanceof Map || value instanceof Set
  if (typeof value === 'object' && value !== null && !isList) return value as Record<string, unknown>
  throw invalid(`${name} must be an object`)
}

const grant = objectOf(
  {
    allow: allOr(oneOrNone(right)),
    sublevel: oneOrMore(sublevelName),
    gte: bound,
    gt: bound,
    lte: bound,
    lt: bound
  },
  'allow'
)

/** A right, or a list of rights, which may be empty. */
function oneOrNone(each: Check): Check {
  const list = listOf(each)
  return (value, name) => (Array.isArray(value) ? list(value, name) : each(value, name))
}

/** What a user may do. */
export const permissionsOf = objectOf<Permissions>(
  { keys: allOr(listOf(grant)), methods: allOr(listOf(text)), feeds: allOr(listOf(text)) },
  'keys'
)

/** A user, in a table of tokens, in a file of them, or from `authenticate`. */
export const userOf = objectOf<User>({ name: text, permissions: permissionsOf as Check }, 'name')

/** Users by their tokens. */
export const tokensOf = recordOf<Readonly<Record<string, User>>>(userOf as Check, 'token')

/**
 * Checks the options of a server, and copies those that give rights.
 *
 * @param limits - The names of the limits that there are.
 * @throws NET_INVALID
 */
export function serverOptionsOf(options: ServerOptions, limits: readonly string[]): ServerOptions {
  const feed: Check = (value, name) => {
    ofType('function')((plain(value, name) as { read?: unknown }).read, `${name}.read`)
    return value
  }
  const schema = objectOf<ServerOptions>({
    tokens: tokensOf,
    authenticate: ofType('function'),
    permissions: permissionsOf as Check,
    insecure: ofType('boolean'),
    origins: listOf(text),
    methods: recordOf(ofType('function'), 'name'),
    feeds: recordOf(feed, 'name'),
    limits: objectOf(Object.fromEntries(limits.map((name) => [name, number]))),
    tls: ofType('object'),
    onWarning: ofType('function')
  })
  return schema(options, 'options')
}

function invalid(message: string): Error {
  return netError('NET_INVALID', message)
}

/** Which store a text of the command line names, and where in it. */

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Redaction } from 'terrace-core'
import type { Place } from './command-line.js'
import { UsageError } from './failure.js'
import { addPlace } from './secrets.js'

/** The stores that can be named. */
export type Kind = 'level' | 'lmdb' | 'mysql' | 'slatedb' | 'net'

/** A database to open. It may contain a password: show {@link shown}. */
export interface Endpoint {
  readonly kind: Kind
  /** The first argument of the class: a path, a URL or an address. */
  readonly location: string
  /** Options that the text holds. */
  readonly options: Readonly<Record<string, unknown>>
  /** The text without secrets. */
  readonly shown: string
}

const kinds: Readonly<Record<string, Kind>> = {
  level: 'level',
  lmdb: 'lmdb',
  mysql: 'mysql',
  mysqls: 'mysql',
  slatedb: 'slatedb',
  tcp: 'net',
  tls: 'net',
  ws: 'net',
  wss: 'net',
  unix: 'net'
}

/** Scheme, user and password, hosts, schema, parameters. */
const MYSQL_URL = /^mysqls?:\/\/(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#@]*)?(?:\?([^#@]*))?$/i

/**
 * Reads what names a database. What begins with none of the known schemes is a path.
 *
 * @param environment - Where a password or token may be, as `TERRACE_FROM_PASSWORD`.
 * @throws UsageError if it names none.
 */
export function endpointOf(
  { text }: Place,
  role: 'from' | 'to',
  environment: NodeJS.ProcessEnv,
  redaction: Redaction
): Endpoint {
  const shown = addPlace(text, redaction)
  // Schemes may be written in capital letters.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  const kind = scheme === undefined ? undefined : kinds[scheme]
  if (kind === undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw new UsageError(`'${text}' begins with none of ${Object.keys(kinds).join(':, ')}:`)
  }

  const rest = kind === undefined ? text : text.slice((scheme as string).length + 1)
  const secret = (name: string): string | undefined => {
    const value = environment[`TERRACE_${role.toUpperCase()}_${name}`]
    if (value !== undefined) redaction.add(value)
    return value
  }

  switch (kind) {
    case 'mysql':
      return mysql(text, scheme as string, secret('PASSWORD'), shown)
    case 'net': {
      const token = secret('TOKEN')
      return {
        kind,
        location: `${scheme}:${rest}`,
        options: token === undefined ? {} : { token },
        shown
      }
    }
    default: {
      // As for unix:, two slashes before an absolute path do not belong to it.
      const location = kind === 'slatedb' ? rest : rest.replace(/^\/\/(?=\/)/, '')
      if (location === '') throw new UsageError(`'${text}' names no database: a path or a URL is missing`)
      return { kind: kind ?? 'level', location, options: {}, shown }
    }
  }
}

/** Whether two texts name the same database for certain. */
export function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.kind === b.kind && identityOf(a) === identityOf(b)
}

function identityOf({ kind, location, options }: Endpoint): string {
  if (kind !== 'level' && kind !== 'lmdb') return JSON.stringify([location, options])
  try {
    return realpathSync(location)
  } catch {
    // What is not there is not the same as anything that is.
    return resolve(location)
  }
}

/** A URL of MysqlLevel, which may name several hosts, and therefore is not one that `URL` can read. */
function mysql(text: string, scheme: string, password: string | undefined, shown: string): Endpoint {
  const [, user = '', hosts, rest = '', query = ''] = MYSQL_URL.exec(text) ?? []
  if (hosts === undefined) {
    throw new UsageError(
      `'${text}' is not a URL such as mysql://USER@HOST:PORT/SCHEMA?name=NAME, with special characters of a password percent-encoded`
    )
  }

  const parameters = new URLSearchParams(query)
  const options: Record<string, string> = {}
  for (const name of ['name', 'table']) {
    const value = parameters.get(name)
    if (value !== null) options[name] = value
    parameters.delete(name)
  }

  const [name] = user.split(':')
  const userInfo = password === undefined ? user : `${name}:${encodeURIComponent(password)}`
  const others = parameters.size > 0 ? `?${parameters}` : ''
  const location = `${scheme}://${userInfo === '' ? '' : `${userInfo}@`}${hosts}${rest}${others}`
  return { kind: 'mysql', location, options, shown }
}

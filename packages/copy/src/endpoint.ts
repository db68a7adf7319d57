/** Which store a text of the command line names, and where in it. */

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Redaction } from 'terrace-core'
import { type BackEnd, LEVEL, schemeOf, schemes } from './back-ends.js'
import type { Place } from './command-line.js'
import { UsageError } from './failure.js'
import { addPlace } from './secrets.js'

/** A database to open. It may contain a password: show {@link shown}. */
export interface Endpoint {
  readonly backEnd: BackEnd
  /** The first argument of the class: a path, a URL or an address. */
  readonly location: string
  /** The options in the text. */
  readonly options: Readonly<Record<string, unknown>>
  /** The text without secrets. */
  readonly shown: string
}

/** Scheme, user and password, hosts, schema, parameters. */
const URL_OF_HOSTS = /^[a-z0-9+.-]+:\/\/(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#@]*)?(?:\?([^#@]*))?$/i

/**
 * Parses the name of a database. A text that begins with none of the known schemes is a path.
 *
 * @param environment - The environment variables, which may hold a password or token, as
 * `TERRACE_FROM_PASSWORD` does.
 * @throws UsageError if the text names no database.
 */
export function endpointOf(
  { text }: Place,
  role: 'from' | 'to',
  environment: NodeJS.ProcessEnv,
  redaction: Redaction
): Endpoint {
  const shown = addPlace(text, redaction)
  const { scheme = '', backEnd = undefined } = schemeOf(text) ?? {}
  if (backEnd === undefined && text.startsWith('://', scheme.length) && scheme !== '') {
    throw new UsageError(`'${text}' begins with none of ${[...schemes.keys()].join(':, ')}:`)
  }

  const secret = (name: string): string | undefined => {
    const value = environment[`TERRACE_${role.toUpperCase()}_${name}`]
    if (value !== undefined) redaction.add(value)
    return value
  }
  const rest = backEnd === undefined ? text : text.slice(scheme.length + 1)
  const named = backEnd ?? LEVEL
  switch (named.location) {
    case 'url':
      return { backEnd: named, shown, ...urlOf(named, text, scheme, secret('PASSWORD')) }
    case 'address': {
      const token = named.token === undefined ? undefined : secret('TOKEN')
      const options = token === undefined ? {} : { [named.token as string]: token }
      return { backEnd: named, location: `${scheme}:${rest}`, options, shown }
    }
    default: {
      // As for unix:, two slashes before an absolute path do not belong to it.
      const location = named.location === 'rest' ? rest : rest.replace(/^\/\/(?=\/)/, '')
      if (location === '') throw new UsageError(`'${text}' names no database: a path or a URL is missing`)
      return { backEnd: named, location, options: {}, shown }
    }
  }
}

/** Returns whether two texts certainly name the same database. */
export function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.backEnd === b.backEnd && identityOf(a) === identityOf(b)
}

function identityOf({ backEnd, location, options }: Endpoint): string {
  if (backEnd.location !== 'path') return JSON.stringify([location, options])
  try {
    return realpathSync(location)
  } catch {
    // What is not there is not the same as anything that is.
    return resolve(location)
  }
}

/** A URL that may name several hosts, and therefore is not one that `URL` can read. */
function urlOf(
  { parameters: known = [], example }: BackEnd,
  text: string,
  scheme: string,
  password: string | undefined
): Pick<Endpoint, 'location' | 'options'> {
  const [, user = '', hosts, rest = '', query = ''] = URL_OF_HOSTS.exec(text) ?? []
  if (hosts === undefined) {
    throw new UsageError(
      `'${text}' is not a URL such as ${example}, with special characters of a password percent-encoded`
    )
  }

  const parameters = new URLSearchParams(query)
  const options: Record<string, string> = {}
  for (const name of known) {
    const value = parameters.get(name)
    if (value !== null) options[name] = value
    parameters.delete(name)
  }

  const [name] = user.split(':')
  const userInfo = password === undefined ? user : `${name}:${encodeURIComponent(password)}`
  const others = parameters.size > 0 ? `?${parameters}` : ''
  const location = `${scheme}://${userInfo === '' ? '' : `${userInfo}@`}${hosts}${rest}${others}`
  return { location, options }
}

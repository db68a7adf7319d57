/** Where passwords and tokens are: in arguments, in the environment and in options. All that is printed goes through {@link Redaction}. */

import type { Redaction } from 'terrace-core'
import { schemeOf } from './back-ends.js'

/** Names of options and variables whose values are secret, and of some that sound like it. */
const SECRET_NAME = /pass|pwd|token|secret|credential|key|auth|sig|cert/i
const PUBLIC_NAME = /encoding$|file$|path$|application_credentials$/i

/** Variables that programs for object stores and servers read. */
const VARIABLE = /^(AWS|AZURE|GOOGLE|GCP|MYSQL|TERRACE)_/

/** What begins with one of these is a path, unless a host follows, as are the back-ends' paths. */
const PATHS = ['unix', 'file', 'memory']
const URL_ANYWHERE = /(?:[a-z][a-z0-9+.-]+:)+\/\/[^/]/i

/** Remembers the secrets of a text that names a database, and returns it without them. */
export function addPlace(text: string, redaction: Redaction): string {
  const first = schemeOf(text)
  // Another URL may follow the scheme.
  const start = first?.backEnd?.location === 'rest' ? first.scheme.length + 1 : 0
  const url = text.slice(start)
  const { scheme = '', backEnd = undefined } = schemeOf(url) ?? {}
  const hasHost = /^[^/]*:\/\/[^/]/.test(url)
  if ((PATHS.includes(scheme) || backEnd?.location === 'path') && !hasHost) return text
  const hasUser = backEnd?.location === 'url'
  return (
    text.slice(0, start) +
    redaction.addUrl(url, hasUser ? { user: true, parameters: backEnd.parameters } : {})
  )
}

/** Remembers the secrets of an argument, whatever it is for: an error about the command line may quote it. */
export function addArgument(argument: string, redaction: Redaction): void {
  const url = argument.search(URL_ANYWHERE)
  addPlace(url === -1 ? argument.replace(/^-+([a-z-]+=)?/, '') : argument.slice(url), redaction)
}

/** Remembers the secrets in the environment. */
export function addVariables(environment: NodeJS.ProcessEnv, redaction: Redaction): void {
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && VARIABLE.test(name) && isSecretName(name)) redaction.add(value)
  }
}

/** Remembers the secrets in options: the values whose names say so, at any depth. */
export function addOptions(options: unknown, redaction: Redaction, isSecret = false): void {
  if (isSecret && (typeof options === 'string' || typeof options === 'number')) redaction.add(String(options))
  if (typeof options !== 'object' || options === null) return
  for (const [name, value] of Object.entries(options)) {
    addOptions(value, redaction, isSecret || isSecretName(name))
  }
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PUBLIC_NAME.test(name)
}

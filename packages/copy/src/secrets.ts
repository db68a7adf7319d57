/** Where passwords and tokens are: in arguments, in the environment and in options. All that is printed goes through {@link Redaction}. */

import type { Redaction } from 'terrace-core'

/** Names of options and variables whose values are secret, and of some that sound like it. */
const SECRET_NAME = /pass|pwd|token|secret|credential|key|auth|sig|cert/i
const PUBLIC_NAME = /encoding$|file$|path$|application_credentials$/i

/** Variables that programs for object stores and servers read. */
const VARIABLE = /^(AWS|AZURE|GOOGLE|GCP|MYSQL|TERRACE)_/

const SCHEME = /^([a-z][a-z0-9+.-]+):/i
/** What has one of these schemes is a path, unless a host follows. */
const PATHS = ['level', 'lmdb', 'unix', 'file', 'memory']
const URL_ANYWHERE = /(?:[a-z][a-z0-9+.-]+:)+\/\/[^/]/i

/** Remembers the secrets of a text that names a database, and returns it without them. */
export function addPlace(text: string, redaction: Redaction): string {
  const [, before = '', url = text] = /^(slatedb:)(.*)$/is.exec(text) ?? []
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase() ?? ''
  const hasHost = /^[^/]*:\/\/[^/]/.test(url)
  if (PATHS.includes(scheme) && !hasHost) return text
  const isMysql = scheme === 'mysql' || scheme === 'mysqls'
  return before + redaction.addUrl(url, isMysql ? { user: true, parameters: ['name', 'table'] } : {})
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

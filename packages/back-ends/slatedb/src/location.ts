/** Where a database is: the URL of an object store, or a directory. */

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Redaction } from 'terrace-core'
import type { Binding, Native } from './binding.js'

/** The form of a URL. A letter alone is a drive of Windows. */
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i

/**
 * What may be credentials: a user before the host; a user and a password, which may have a slash in it; parameters, such as the
 * signatures of Azure and S3.
 */
const CREDENTIALS = /^[^/]*\/\/(?:[^/]*@|[^/]*:.*@|.*[?#])/s

/** Names of settings whose values must not be shown. */
const SECRET = /secret|token|password|credential|_key$/i

/** The URL of a location. A path is that of a directory. */
export function urlOf(location: string): string {
  return SCHEME.test(location) ? location : pathToFileURL(resolve(location)).href
}

/** @throws TypeError */
export function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
  if (location.includes('\0')) {
    throw new TypeError("The first argument 'location' must not contain a NUL character")
  }
  if (SCHEME.test(location) && CREDENTIALS.test(location)) {
    throw new TypeError(
      "The location must not contain credentials: use the option 'storeOptions' or the environment. " +
        'In a path, write @ as %40, ? as %3F and # as %23'
    )
  }
}

/** Whether the data is in memory, and gone with the instance. */
export function isInMemory(location: string): boolean {
  return /^memory:/i.test(location)
}

/**
 * Makes the engine's handle of a store.
 *
 * The engine reads settings from the environment of the process, and from nowhere else. They are put there for this call, which
 * is synchronous, and taken away again.
 */
export function resolveStore(
  binding: Binding,
  location: string,
  options: Readonly<Record<string, string>>
): Native {
  const before = new Map<string, string | undefined>()
  try {
    for (const [name, value] of Object.entries(options)) {
      before.set(name, process.env[name])
      process.env[name] = value
    }
    return binding.ObjectStore.resolve(urlOf(location))
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** A text without the secrets among the settings of a store. */
export function redacted(text: string, options: Readonly<Record<string, string>>): string {
  const redaction = new Redaction()
  for (const [name, value] of [...Object.entries(options), ...Object.entries(process.env)]) {
    if (value !== undefined && value.length > 3 && SECRET.test(name)) redaction.add(value)
  }
  return redaction.redact(text)
}

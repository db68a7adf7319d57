/** What a process that shares a database needs of the one that owns it, and whether what has answered is that. */

import type { Welcome } from '../client/welcome.js'
import { netError } from '../protocol/errors.js'
import { rights } from '../server/schema.js'
import { identityOf } from '../transport/identity.js'

const ADVICE = 'Move it back, or close this database and open it again'

/** What is shared. */
export interface Wanted {
  /** The absolute path of the database. */
  readonly location: string
  /** Its identity when this process came to it. */
  readonly identity: string
  /** The names of the methods that the owner does for the others. */
  readonly methods: readonly string[]
}

/**
 * Checks that a server is an owner of the database.
 *
 * @throws NET_MISMATCH, which names the difference.
 */
export function checkOwner(welcome: Welcome, wanted: Wanted): void {
  const difference = differenceOf(welcome, wanted)
  if (difference === undefined) return
  throw netError(
    'NET_MISMATCH',
    `The server that listens for ${wanted.location} does not own it: ${difference}`
  )
}

function differenceOf(
  { database, prefix, rights: granted, methods }: Welcome,
  wanted: Wanted
): string | undefined {
  if (database === undefined || !(prefix instanceof Uint8Array)) {
    return 'it does not say which database it serves. Update terrace-net there, or stop it'
  }
  if (database !== wanted.identity) {
    return 'it serves another database. Stop it, or close this database and open it again'
  }
  if (prefix.length > 0) {
    const text = Buffer.from(prefix).toString()
    return `it serves only the sublevel with the prefix '${text}'. Serve the whole database, or use NetLevel for the sublevel`
  }
  const missingRights = without(rights, granted).join(', ')
  if (missingRights !== '') {
    return `it does not let its clients ${missingRights} every key. Serve the database without restrictions, or use NetLevel`
  }
  const missingMethods = without(wanted.methods, methods).join(', ')
  if (missingMethods !== '') {
    return `it does not offer ${missingMethods}. Serve a Level of terrace there, or open it with 'shared: true'`
  }
  return undefined
}

/** The names that are not in a list which a server has sent, if it is one. */
function without(names: readonly string[], list: unknown): string[] {
  return names.filter((name) => !Array.isArray(list) || !list.includes(name))
}

/**
 * Checks that a directory still holds the database.
 *
 * @throws NET_MISMATCH if it is gone, or another one has taken its place.
 */
export function checkDirectory({ location, identity }: Wanted): void {
  let found: string
  try {
    found = identityOf(location)
  } catch (cause) {
    throw missing(location, cause)
  }
  if (found !== identity) {
    throw netError(
      'NET_MISMATCH',
      `${location} holds a different database from the one that was shared. ${ADVICE}`
    )
  }
}

/** The database that was shared is gone. */
export function missing(location: string, cause: unknown): Error {
  const { message } = cause as Error
  return netError(
    'NET_MISMATCH',
    `The database that was shared is no longer in ${location}: ${message}. ${ADVICE}`,
    cause
  )
}

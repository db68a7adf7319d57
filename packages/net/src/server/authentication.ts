/** Authenticates clients. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { netError } from '../protocol/errors.js'
import type { Peer, ServerOptions, User } from './options.js'
import { tokensOf, userOf } from './schema.js'

export type Authenticate = (token: string | undefined, peer: Peer) => Promise<User | null>

/** Whether clients must authenticate. */
export function asksForTokens({ tokens, authenticate }: ServerOptions): boolean {
  return tokens !== undefined || authenticate !== undefined
}

/**
 * The authentication that the options describe. Its promise resolves to the user, or to null if all clients may do
 * everything.
 *
 * @throws NET_INVALID if one of the users is invalid.
 * @throws NET_UNAUTHENTICATED, in the promise, without any hint of the reason.
 */
export function authentication({ tokens, authenticate }: ServerOptions): Authenticate {
  const known = Object.entries(tokensOf(tokens ?? {}, 'tokens')).map(([token, user]) => ({
    digest: digestOf(token),
    user
  }))
  if (tokens === undefined && authenticate === undefined) return async () => null

  return async (token, peer) => {
    // All digests have the same length and all are compared, so timing reveals nothing about the tokens.
    const digest = digestOf(token ?? '')
    let user: User | null = null
    for (const each of known) if (timingSafeEqual(each.digest, digest)) user = each.user
    if (token === undefined) user = null
    if (user === null && authenticate !== undefined) user = await ask(authenticate, token, peer)
    if (user !== null) return user

    const what =
      token === undefined
        ? "The server requires a token: set the option 'token'"
        : 'The server does not accept the token'
    throw netError('NET_UNAUTHENTICATED', what)
  }
}

async function ask(
  authenticate: NonNullable<ServerOptions['authenticate']>,
  token: string | undefined,
  peer: Peer
): Promise<User | null> {
  try {
    const user = (await authenticate(token, peer)) ?? null
    // A copy: if the program later removes rights from its object in place, the session's rights must differ from them.
    return user === null ? null : userOf(user, 'user')
  } catch (cause) {
    throw netError('NET_UNAUTHENTICATED', 'The server cannot determine the user of this connection', cause)
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

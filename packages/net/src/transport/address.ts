/** Where a server listens, as users write it. */

import { redactedUrl } from 'terrace-core'
import { netError } from '../protocol/errors.js'

/** The default port of TCP, TLS and WebSocket. */
export const DEFAULT_PORT = 7817

/** An address in its parts. */
export type Address =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp' | 'tls'; readonly host: string; readonly port: number }
  | { readonly kind: 'ws' | 'wss'; readonly url: URL }

const examples =
  "such as 'tcp://127.0.0.1:7817', 'tls://host:7817', 'ws://host:8080/path' or 'unix:/path/of/a.sock'"

/**
 * Reads an address: `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST:PORT/PATH`, `wss://…`, `unix:/PATH`, or `unix:\\.\pipe\NAME`
 * on Windows.
 *
 * @throws NET_INVALID
 */
export function parseAddress(text: string): Address {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '')
    if (path === '') throw netError('NET_INVALID', `An address needs a path after 'unix:'`)
    return { kind: 'unix', path }
  }

  const url = URL.canParse(text) ? new URL(text) : undefined
  const kind = url?.protocol.slice(0, -1)
  if (url !== undefined && (kind === 'ws' || kind === 'wss')) return { kind, url }
  if (url !== undefined && url.hostname !== '' && (kind === 'tcp' || kind === 'tls')) {
    if (url.username !== '' || url.password !== '') throw noUser(text)
    return {
      kind,
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? DEFAULT_PORT : Number(url.port)
    }
  }
  throw netError('NET_INVALID', `'${redactedUrl(text)}' is not an address, ${examples}`)
}

/** A token in an address would be ignored, and be seen wherever the address is. */
export function noUser(text: string): Error {
  return netError(
    'NET_INVALID',
    `'${redactedUrl(text)}' has a user: tokens are the option 'token' of a client, and 'tokens' of a server`
  )
}

/** Whether only programs of this machine can connect to a host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

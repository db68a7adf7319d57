/** Makes connections from a page or its workers. In a browser's build it takes the place of `connect.ts`: package.json says so. */

import { netError } from '../protocol/errors.js'
import { type Address, parseAddress as parseAnyAddress } from '../transport/address.js'
import { type WebSocketLike, whenOpen } from '../transport/web-socket.js'
import type * as connectFromNode from './connect.js'

declare const WebSocket: new (url: string) => WebSocketLike
declare const location: { readonly origin: string }

export const parseAddress: typeof connectFromNode.parseAddress = (text) => {
  const address = parseAnyAddress(text)
  if ('url' in address) return address
  throw netError('NET_INVALID', `${refusal(address)}: use an address such as 'wss://host:7817/path' instead`)
}

export const fixedAddress: typeof connectFromNode.fixedAddress = (text) => {
  parseAddress(text)
  return text
}

export const connect: typeof connectFromNode.connect = async (address, _options, signal) => {
  signal.throwIfAborted()
  if (!('url' in address)) throw netError('NET_INVALID', refusal(address))
  return whenOpen(new WebSocket(address.url.href), address.url, signal).catch((cause) => {
    signal.throwIfAborted()
    // A page is not told more.
    throw Object.assign(
      new Error(
        `no server answers at ${address.url.host}, or it refuses pages from ${location.origin} (option 'origins' of the server)`
      ),
      { cause }
    )
  })
}

function refusal({ kind }: Address): string {
  return `A browser cannot connect by ${kind}:, but by ws: and wss: alone`
}

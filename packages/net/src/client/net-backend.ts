/** The back-end of `NetLevel`: each method is a request to the server. */

import { type BackendManifest, RemoteBackend } from 'terrace-core'
import { hasBuffers } from '../protocol/bytes.js'
import type { Link } from './link.js'
import { NetCodec } from './net-codec.js'

/** What this side of the network takes and gives. Text becomes bytes here, without a detour. */
export const encodings = hasBuffers ? { utf8: true, buffer: true, view: true } : { view: true }

export class NetBackend extends RemoteBackend {
  /** It is read before the server is known. A call that the server's database does not support fails with LEVEL_NOT_SUPPORTED. */
  readonly manifest: BackendManifest = { encodings, shared: true, conditionalWrites: true, versions: true }
  readonly #link: Link

  constructor(link: Link) {
    super(link, new NetCodec(link))
    this.#link = link
  }

  open(): Promise<void> {
    return this.#link.open()
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}

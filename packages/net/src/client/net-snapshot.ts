/** A snapshot on the server, as the client sees it. It ends with the session. */

import { RemoteSnapshot } from 'terrace-core'
import { Ask } from '../protocol/messages.js'
import { type Link, sessionLost } from './link.js'

export class NetSnapshot extends RemoteSnapshot {
  readonly #link: Link

  constructor(link: Link) {
    super(link.handles)
    this.#link = link
    link.ask('with state', [Ask.snapshot, 0, this.handle]).catch((error) => this.fail(error))
  }

  protected lost(): Error {
    return sessionLost()
  }

  protected closeThere(handle: number): void {
    this.#link.ask('with state', [Ask.closeSnapshot, 0, handle]).catch(() => {})
  }
}

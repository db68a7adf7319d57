/** A snapshot on the server, as the client sees it. It ends with the session. */

import type { BackendSnapshot } from 'terrace-core'
import { Ask } from '../protocol/messages.js'
import type { Link, Resource } from './link.js'
import { sessionLost } from './pending-requests.js'

export class NetSnapshot implements BackendSnapshot, Resource {
  readonly #link: Link
  readonly #handle: number
  #failure: unknown

  constructor(link: Link) {
    this.#link = link
    this.#handle = link.addResource(this)
    link.ask('with session', [Ask.snapshot, 0, this.#handle]).catch((error) => {
      this.#failure ??= error
    })
  }

  /**
   * The number by which the server knows it.
   *
   * @throws NET_SESSION_LOST, or why the server did not make it.
   */
  get handle(): number {
    if (this.#failure !== undefined) throw this.#failure
    return this.#handle
  }

  close(): void {
    this.#link.removeResource(this.#handle)
    if (this.#failure === undefined) {
      this.#link.ask('with session', [Ask.closeSnapshot, 0, this.#handle]).catch(() => {})
    }
  }

  forgotten(): void {
    this.#failure ??= sessionLost()
  }
}

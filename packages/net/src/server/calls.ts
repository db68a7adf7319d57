/** Running calls of methods. A method may never return, so a closing server gives up on it after a while. */

import { netError } from '../protocol/errors.js'

type GiveUp = (error: Error) => void

export class Calls {
  readonly #running = new Set<GiveUp>()

  /** Calls a method. Resolves to its result, or rejects if the call is given up. */
  async run(method: () => unknown): Promise<unknown> {
    let giveUp: GiveUp = () => {}
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = reject
    })
    this.#running.add(giveUp)
    try {
      return await Promise.race([method(), givenUp])
    } finally {
      this.#running.delete(giveUp)
    }
  }

  /** Rejects all running calls. The methods may still run, but their outcomes are ignored. */
  giveUp(): void {
    const error = netError(
      'NET_WRITE_UNKNOWN',
      'The server was closed while it ran this method: whether the method has taken effect is not known'
    )
    for (const giveUp of this.#running) giveUp(error)
  }
}

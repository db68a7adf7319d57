/** Calls of methods that are running. A method may never return, so a server that closes gives them up after a while. */

import { netError } from '../protocol/errors.js'

type GiveUp = (error: Error) => void

export class Calls {
  readonly #running = new Set<GiveUp>()

  /** Calls a method. Resolves with its result, or rejects once it is given up. */
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

  /** Lets all callers know that nobody waits for their methods any more. What these do from now on, nobody hears of. */
  giveUp(): void {
    const error = netError(
      'NET_WRITE_UNKNOWN',
      'The server was closed while it ran this method: whether the method has taken effect is not known'
    )
    for (const giveUp of this.#running) giveUp(error)
  }
}

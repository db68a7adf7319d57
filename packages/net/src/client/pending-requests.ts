/** Requests that are not answered yet, and what becomes of them when their session is lost, or nobody waits any more. */

import type { CodedError } from 'terrace-core'
import { netError } from '../protocol/errors.js'

/** What to do if the server has forgotten the session. */
export type Resend =
  /** It reads, or is idempotent: it is sent again. */
  | 'again'
  /** It may have been done: it fails with NET_WRITE_UNKNOWN if it was sent. */
  | 'never'
  /** It is about a cursor or snapshot of the session: it fails with NET_SESSION_LOST. */
  | 'with session'

export interface Pending {
  /** The packed message: a copy of what belongs to the caller. */
  readonly frame: Uint8Array
  readonly resend: Resend
  readonly convert: ((result: never) => unknown) | undefined
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  /** The session in which it was sent; 0 if it was not. */
  sentIn: number
}

export class PendingRequests {
  /** By number, in order. */
  readonly #requests = new Map<number, Pending>()

  get size(): number {
    return this.#requests.size
  }

  /** The lowest number. */
  get oldest(): number | undefined {
    const [oldest] = this.#requests.keys()
    return oldest
  }

  all(): Iterable<Pending> {
    return this.#requests.values()
  }

  add(number: number, request: Pending): void {
    this.#requests.set(number, request)
  }

  get(number: number): Pending | undefined {
    return this.#requests.get(number)
  }

  /** Forgets a request that was answered. */
  take(number: number): Pending | undefined {
    const request = this.#requests.get(number)
    this.#requests.delete(number)
    return request
  }

  /** Resolves once all that are there now are answered. What is released with the session need not be waited for. */
  async answered(): Promise<void> {
    const wanted = [...this.#requests.values()].filter(({ resend }) => resend !== 'with session')
    await Promise.all(wanted.map(settled))
  }

  /** The server has forgotten the session: whatever cannot be done in another one fails. */
  loseSession(): void {
    for (const [number, { resend, sentIn, reject }] of [...this.#requests]) {
      if (resend === 'again' || (resend === 'never' && sentIn === 0)) continue
      this.#requests.delete(number)
      reject(resend === 'never' ? writeUnknown() : sessionLost())
    }
  }

  /** Gives up all of them. */
  fail(error: CodedError<string>): void {
    for (const [number, { resend, sentIn, reject }] of [...this.#requests]) {
      this.#requests.delete(number)
      const isUnknown = resend === 'never' && sentIn > 0
      reject(
        isUnknown
          ? netError('NET_WRITE_UNKNOWN', `This write was sent, but not answered: ${error.message}`, error)
          : error
      )
    }
  }
}

function writeUnknown(): Error {
  return netError(
    'NET_WRITE_UNKNOWN',
    'The connection was lost after this write was sent, and the server no longer knows it: read to learn whether it is stored'
  )
}

/** What was read from is gone with the session. */
export function sessionLost(): Error {
  return netError('NET_SESSION_LOST', 'The server was started anew, or the connection was away for too long')
}

/** Gives a request its result. */
export function settle({ convert, resolve, reject }: Pending, result: never): void {
  try {
    resolve((convert === undefined ? result : convert(result)) as never)
  } catch (error) {
    reject(error)
  }
}

/** Resolves once a request is answered, in whatever way. */
function settled(pending: Pending): Promise<void> {
  return new Promise((done) => {
    const { resolve, reject } = pending
    const also =
      <T>(settle: (value: T) => void) =>
      (value: T): void => {
        settle(value)
        done()
      }
    Object.assign(pending, { resolve: also(resolve), reject: also(reject) })
  })
}

import type { AbstractResource } from 'abstract-level'
import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'

/** Ends a stream when its database closes. */
export class ClosingWatch {
  readonly #db: AnyLevel
  readonly #resource: AbstractResource

  /** @param end - Ends the stream with an error, and waits until it is idle. */
  constructor(db: AnyLevel, end: (error: Error) => Promise<void>) {
    this.#db = db
    const close = (): Promise<void> =>
      end(codedError('STREAM_DATABASE_CLOSED', 'The database was closed before the stream ended'))
    this.#resource = { close, [Symbol.asyncDispose]: close }
    db.attachResource(this.#resource)
  }

  /** Call it when the stream has ended. */
  stop(): void {
    this.#db.detachResource(this.#resource)
  }
}

import type { BackendSnapshot } from '../backend.js'
import type { RemoteCodec, RemoteConnection } from './connection.js'
import type { RemoteState } from './handles.js'

/** A snapshot on the other side of a connection. It is lost with that side. */
export class RemoteSnapshot implements BackendSnapshot, RemoteState {
  readonly #connection: RemoteConnection
  readonly #codec: RemoteCodec
  readonly #handle: number
  #isForgotten = false
  #failure: unknown

  constructor(connection: RemoteConnection, codec: RemoteCodec) {
    this.#connection = connection
    this.#codec = codec
    this.#handle = connection.handles.add(this)
    connection.tell(codec.snapshot(this.#handle), (error) => {
      this.#failure ??= error
    })
  }

  /**
   * The number that identifies the snapshot to the other side.
   *
   * @throws the error with which the other side failed to create the snapshot, or the error that the snapshot
   * was lost with that side.
   */
  get handle(): number {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#isForgotten) throw this.#connection.stateLost()
    return this.#handle
  }

  /** Whether the snapshot was created over this connection. */
  isOf(connection: RemoteConnection): boolean {
    return connection === this.#connection
  }

  close(): void {
    const isKnown = this.#connection.handles.remove(this.#handle)
    if (isKnown && this.#failure === undefined) this.#connection.tell(this.#codec.closeSnapshot(this.#handle))
  }

  forgotten(): void {
    this.#isForgotten = true
  }
}

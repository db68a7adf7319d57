import type { BackendSnapshot } from '../backend.js'
import type { Handles, RemoteState } from './handles.js'

/** A snapshot on the other side of a connection. It ends with that side. */
export abstract class RemoteSnapshot implements BackendSnapshot, RemoteState {
  readonly #handles: Handles
  readonly #handle: number
  #isForgotten = false
  #failure: unknown

  constructor(handles: Handles) {
    this.#handles = handles
    this.#handle = handles.add(this)
  }

  /** Why it cannot be used, once the other side is lost. */
  protected abstract lost(): unknown
  /** Releases it there. */
  protected abstract closeThere(handle: number): void

  /**
   * The number by which the other side knows it.
   *
   * @throws the error of {@link lost}, or why the other side did not make it.
   */
  get handle(): number {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#isForgotten) throw this.lost()
    return this.#handle
  }

  close(): void {
    const isKnown = this.#handles.remove(this.#handle)
    if (isKnown && this.#failure === undefined) this.closeThere(this.#handle)
  }

  forgotten(): void {
    this.#isForgotten = true
  }

  /** The other side did not make it. */
  protected fail(error: unknown): void {
    this.#failure ??= error
  }
}

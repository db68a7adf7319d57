/**
 * The numbers that identify cursors, snapshots and the like to the other side of a connection. They mean nothing to another side.
 */

/** A cursor, snapshot or the like that the other side holds for this one. */
export interface RemoteState {
  /** Called when the other side is lost with everything it held, before calls fail or are sent again. */
  forgotten(): void
}

/** The numbers that identify cursors, snapshots and the like to the other side of a connection. */
export class Handles<State extends RemoteState = RemoteState> {
  readonly #states = new Map<number, State>()
  #last = 0

  /** Adds a state, and returns a number for it that was never used before. */
  add(state: State): number {
    const handle = ++this.#last
    this.#states.set(handle, state)
    return handle
  }

  get(handle: number): State | undefined {
    return this.#states.get(handle)
  }

  /** Removes a state. Returns whether the other side still had it. */
  remove(handle: number): boolean {
    return this.#states.delete(handle)
  }

  /** Removes all states, because nothing more is needed from the other side. */
  clear(): void {
    this.#states.clear()
  }

  /** Removes all states and tells them that the other side is lost. */
  forgetAll(): void {
    const states = [...this.#states.values()]
    this.#states.clear()
    for (const state of states) state.forgotten()
  }
}

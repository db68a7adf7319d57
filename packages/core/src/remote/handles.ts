/**
 * The numbers that identify cursors, snapshots and the like to the other side of a connection. They mean nothing to another side.
 */

/** Something that the other side has for this one. */
export interface RemoteState {
  /** The other side is lost, with everything it had. Called before calls fail or are sent again. */
  forgotten(): void
}

export class Handles<State extends RemoteState = RemoteState> {
  readonly #states = new Map<number, State>()
  #last = 0

  /** Returns a number for it that was never used before. */
  add(state: State): number {
    const handle = ++this.#last
    this.#states.set(handle, state)
    return handle
  }

  get(handle: number): State | undefined {
    return this.#states.get(handle)
  }

  /** Returns whether the other side still has it. */
  remove(handle: number): boolean {
    return this.#states.delete(handle)
  }

  /** Nothing more is needed from the other side. */
  clear(): void {
    this.#states.clear()
  }

  /** The other side is lost. */
  forgetAll(): void {
    const states = [...this.#states.values()]
    this.#states.clear()
    for (const state of states) state.forgotten()
  }
}

/**
 * The open sublevels of a database or sublevel. They are closed with it, and forgotten when nothing else refers to them.
 */

/** Anything that can be closed. */
export interface Closable {
  close(): Promise<void>
}

/** Kept with a child, so that the reference is found when the child is closed. */
export type ChildReference = WeakRef<Closable>

export class WeakChildren implements Closable {
  readonly #references = new Set<ChildReference>()
  readonly #lost = new FinalizationRegistry<ChildReference>((reference) => this.#references.delete(reference))

  get size(): number {
    return this.#references.size
  }

  add(child: Closable): ChildReference {
    const reference = new WeakRef(child)
    this.#references.add(reference)
    this.#lost.register(child, reference, reference)
    return reference
  }

  delete(reference: ChildReference): void {
    this.#references.delete(reference)
    this.#lost.unregister(reference)
  }

  /** Closes all of them. */
  async close(): Promise<void> {
    const children = Array.from(this.#references, (reference) => reference.deref()?.close())
    const failed = (await Promise.allSettled(children)).find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }
}

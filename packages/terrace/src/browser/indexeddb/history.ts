/**
 * What earlier states of the store had where later writes have changed it. IndexedDB has no snapshots, but this database is its only
 * writer: while a view is open, each write first reads the values that it replaces, in its own transaction, and keeps them here.
 *
 * A layer holds the values that were replaced after the views on it were made, and before the next layer's were. The value of a
 * key in a view is therefore in the first layer, from its own on, that has the key; in the store, if none has.
 */

import { Layer } from './layer.js'

export class History {
  readonly #layers: Layer[] = []

  /** Makes a view of the state after every transaction that has been made up to now. */
  view(): View {
    let newest = this.#layers.at(-1)
    if (newest === undefined || !newest.isUntouched) {
      newest = new Layer()
      this.#layers.push(newest)
    }
    newest.views++
    return new View(this.#layers, newest)
  }

  /** Whether these layers are those of this history. */
  owns(layers: readonly Layer[]): boolean {
    return layers === this.#layers
  }

  /** Where a write that begins now keeps what it replaces; undefined if no view is open. */
  current(): Layer | undefined {
    const newest = this.#layers.at(-1)
    if (newest !== undefined) newest.isUntouched = false
    return newest
  }
}

/** A state of the store. */
export class View {
  readonly #layers: Layer[]
  readonly #layer: Layer

  constructor(layers: Layer[], layer: Layer) {
    this.#layers = layers
    this.#layer = layer
  }

  /** Whether it is a state of the store that has this history. */
  isOf(history: History): boolean {
    return history.owns(this.#layers)
  }

  /** What the key had here, if it was changed since: undefined within if it did not exist. */
  find(identity: string): { readonly value: Uint8Array | undefined } | undefined {
    for (const layer of this.#later()) {
      const kept = layer.find(identity)
      if (kept !== undefined) return kept
    }
    return undefined
  }

  /** The keys that were changed since, from one up to another, both included, in order. Undefined stands for no bound. */
  changedBetween(first: string | undefined, last: string | undefined): string[] {
    const lists = this.#later()
      .map((layer) => layer.between(first, last))
      .filter((list) => list.length > 0)
    return lists.length > 1 ? [...new Set(lists.flat())].sort() : (lists[0] ?? [])
  }

  close(): void {
    const layer = this.#layer
    layer.views--
    if (layer.views > 0) return
    const index = this.#layers.indexOf(layer)
    this.#layers.splice(index, 1)
    layer.retire(this.#layers[index - 1])
  }

  #later(): Layer[] {
    return this.#layers.slice(this.#layers.indexOf(this.#layer))
  }
}

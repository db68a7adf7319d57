/** A first-in, first-out queue. Removing the first element of a large array would move all others. */

/** How many slots stay empty before the others move up. */
const MAX_SERVED = 1024

export class Fifo<Item> {
  #items: Item[] = []
  #served = 0
  #servedBefore = 0

  /** How many items have been removed from the front, less those that were put back. */
  get served(): number {
    return this.#servedBefore + this.#served
  }

  get length(): number {
    return this.#items.length - this.#served
  }

  /** The first item, if there is one. */
  get first(): Item | undefined {
    return this.#items[this.#served]
  }

  /** The first items, at most `count`. */
  firstOnes(count: number): Item[] {
    return this.#items.slice(this.#served, this.#served + count)
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Removes the first item. */
  shift(): void {
    this.#served++

    if (
      this.#served === this.#items.length ||
      (this.#served >= MAX_SERVED && 2 * this.#served > this.#items.length)
    ) {
      this.#items = this.#items.slice(this.#served)
      this.#servedBefore += this.#served
      this.#served = 0
    }
  }

  /** Puts items in front of the first. */
  unshift(items: readonly Item[]): void {
    this.#items = [...items, ...this.#items.slice(this.#served)]
    this.#servedBefore += this.#served - items.length
    this.#served = 0
  }
}

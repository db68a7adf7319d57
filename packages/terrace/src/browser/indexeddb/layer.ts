/** Values that were replaced between two views; see `history.ts`. */
export class Layer {
  /** How many open views begin with this layer. */
  views = 0
  /** Whether no write has begun since this layer was made. Then the next view is the same. */
  isUntouched = true
  readonly #kept = new Map<string, { readonly value: Uint8Array | undefined }>()
  #sorted: string[] = []
  #unsorted: string[] = []
  /** The layer that has taken over the values of this one; null if no view needs them. */
  #heir: Layer | null | undefined

  find(identity: string): { readonly value: Uint8Array | undefined } | undefined {
    return this.#kept.get(identity)
  }

  /** Whether a write need not read the value of a key: an earlier one has, or no view needs it. */
  has(identity: string): boolean {
    const target = this.#target()
    return target === null || target.#kept.has(identity)
  }

  /** Keeps the value that a key had, unless an earlier one is kept. Undefined if the key did not exist. */
  keep(identity: string, value: Uint8Array | undefined): void {
    const target = this.#target()
    if (target === null || target.#kept.has(identity)) return
    target.#kept.set(identity, { value })
    target.#unsorted.push(identity)
  }

  /** The keys from one up to another, both included, in order. */
  between(first: string | undefined, last: string | undefined): string[] {
    if (this.#unsorted.length > 0) {
      this.#sorted = this.#sorted.concat(this.#unsorted).sort()
      this.#unsorted = []
    }
    const sorted = this.#sorted
    const start = first === undefined ? 0 : countOf(sorted, (each) => each < first)
    const end = last === undefined ? sorted.length : countOf(sorted, (each) => each <= last)
    return sorted.slice(start, end)
  }

  /** Leaves the values to the layer before this one, whose views still need them, if there is one. */
  retire(previous: Layer | undefined): void {
    this.#heir = previous ?? null
    if (previous !== undefined) for (const [identity, { value }] of this.#kept) previous.keep(identity, value)
    this.#kept.clear()
    this.#sorted = []
    this.#unsorted = []
  }

  /** A write that began before this layer was retired still keeps its values through it. */
  #target(): Layer | null {
    let target: Layer | null = this
    while (target !== null && target.#heir !== undefined) target = target.#heir
    return target
  }
}

/** How many of the first keys meet a condition, which none of the later ones meets. */
function countOf(sorted: readonly string[], isBefore: (key: string) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle] as string)) low = middle + 1
    else high = middle
  }
  return low
}

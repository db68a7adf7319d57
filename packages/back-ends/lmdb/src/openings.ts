/** The databases open in this thread. lmdb opens each database once per process, in the mode of the first instance. */

interface Opening {
  count: number
  readonly isReadOnly: boolean
}

/** The databases that are open, by their directories. */
class Openings {
  readonly #openings = new Map<string, Opening>()

  add(path: string, isReadOnly: boolean): void {
    const opening = this.#openings.get(path)
    if (opening === undefined) this.#openings.set(path, { count: 1, isReadOnly })
    else opening.count++
  }

  remove(path: string): void {
    const opening = this.#openings.get(path)
    if (opening !== undefined && --opening.count === 0) this.#openings.delete(path)
  }

  has(path: string): boolean {
    return this.#openings.has(path)
  }

  /** Whether the database was opened for reading, so that no instance can write to it until all have closed it. */
  isReadOnly(path: string): boolean {
    return this.#openings.get(path)?.isReadOnly === true
  }
}

export const openings = new Openings()

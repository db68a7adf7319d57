// What a database of the writer must hold, lane by lane.

/** A lane, with its entries after the writes that are known to have taken effect. */
class Model {
  constructor(lane, count = 0, entries = new Map()) {
    this.lane = lane
    this.count = count
    this.entries = entries
  }

  clone() {
    return new Model(this.lane, this.count, new Map(this.entries))
  }

  advance() {
    for (const { type, key, value } of this.lane.write(++this.count).operations) {
      if (type === 'put') this.entries.set(key, value)
      else this.entries.delete(key)
    }
  }

  equals(found) {
    if (found.size !== this.entries.size) return false
    for (const [key, value] of found) {
      if (this.entries.get(key)?.equals(value) !== true) return false
    }
    return true
  }
}

/** The lanes of a database, each after the writes that are known to have taken effect. */
export class Oracle {
  #models

  constructor(lanes) {
    this.#models = lanes.map((lane) => new Model(lane))
  }

  get counts() {
    return this.#models.map((model) => model.count)
  }

  clone() {
    const copy = new Oracle([])
    copy.#models = this.#models.map((model) => model.clone())
    return copy
  }

  /**
   * Accepts `entries`, pairs of a key and a buffer, as the current contents. Throws if a lane is not in the state after one of
   * `atLeast` to `atMost` of its writes.
   */
  accept(entries, atLeast, atMost) {
    const parts = this.#models.map(() => new Map())

    for (const [key, value] of entries) {
      const number = this.#models.findIndex((model) => key.startsWith(model.lane.prefix))
      if (number === -1) throw new Error(`the key ${key} belongs to no lane`)
      parts[number].set(key, value)
    }

    this.#models.forEach((model, number) => {
      while (model.count < atLeast[number]) model.advance()
      while (!model.equals(parts[number])) {
        if (model.count >= atMost[number]) {
          throw new Error(`lane ${number} is not as after ${atLeast[number]} to ${atMost[number]} writes`)
        }

        model.advance()
      }
    })
  }
}

// What a user with random permissions asks for.

import { allKeys, ownKeys, prefixOf, randomBounds, sublevels } from './permission-model.js'

/** Draws keys, values, operations and ranges. */
export class Choices {
  #random
  #number = 0

  constructor(random) {
    this.#random = random
  }

  operations() {
    return Array.from({ length: 1 + this.#random.below(3) }, () => {
      const value = this.#random.below(3) === 0 ? undefined : this.value()
      const path = this.#random.below(2) === 0 ? this.#random.pick(sublevels) : undefined
      const key = path === undefined ? this.key() : prefixOf(path) + this.#random.pick(ownKeys)
      return { key, value, path }
    })
  }

  walk() {
    const random = this.#random
    return {
      ...randomBounds(random, allKeys),
      reverse: random.below(2) === 0,
      ...(random.below(2) === 0 && { limit: 1 + random.below(8) })
    }
  }

  key() {
    return this.#random.pick(allKeys)
  }

  value() {
    return `v${this.#number++}${'x'.repeat(this.#random.below(3) * this.#random.below(50))}`
  }
}

/** Operations as `batch()` takes them. Keys of sublevels are without their prefixes. */
export function batchOf(operations, sublevelOf) {
  return operations.map(({ key, value, path }) => ({
    type: value === undefined ? 'del' : 'put',
    key: path === undefined ? key : key.slice(prefixOf(path).length),
    value,
    ...(path !== undefined && { sublevel: sublevelOf(path) })
  }))
}

/** Collects what an iterator yields, and its failure. */
export async function collect(iterator, into) {
  try {
    for await (const item of iterator) into.got.push(item)
  } catch (error) {
    into.failure = error
  }
}

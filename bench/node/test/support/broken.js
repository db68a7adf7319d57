// Databases that do something wrong, each in its own way. Verification must notice.

import { MemoryLevel } from 'memory-level'

const EVERY = 50

/** Loses a put now and then. */
export class LosesPuts extends MemoryLevel {
  #count = 0

  async _put(...args) {
    if (++this.#count % EVERY !== 0) await super._put(...args)
  }
}

/** Loses the last entry of each batch. */
export class LosesOfBatches extends MemoryLevel {
  async _batch(operations, options) {
    await super._batch(operations.slice(0, -1), options)
  }
}

/** Stores the same value under every key. */
export class MixesValues extends MemoryLevel {
  #value

  async _put(key, value, options) {
    this.#value ??= value
    await super._put(key, this.#value, options)
  }
}

/** Does not find some keys. */
export class FindsLess extends MemoryLevel {
  #count = 0

  async _get(...args) {
    return ++this.#count % EVERY === 0 ? undefined : super._get(...args)
  }
}

/** Finds a value for every key, whatever was written. */
export class FindsAll extends MemoryLevel {
  async _get(...args) {
    return (await super._get(...args)) ?? 'value'
  }
}

/** Does nothing when cleared. */
export class ClearsNothing extends MemoryLevel {
  async _clear() {}
}

/** Ends iterations early. */
export class EndsEarly extends MemoryLevel {
  _iterator(options) {
    return super._iterator({ ...options, limit: EVERY })
  }
}

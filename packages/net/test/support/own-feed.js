// A feed as a server may offer it: the changes of a database or sublevel, from its events, kept in memory.

/** Feeds of this kind store nothing in the database, so that its keys are the test's alone. */
export class OwnFeed {
  db
  /** All changes, with texts. */
  changes = []
  #waiting = new Set()

  constructor(db) {
    this.db = db
  }

  /** Records what was written together: `[key, value]`, undefined for a deletion. */
  record(operations) {
    const batch = this.changes.length + 1
    for (const [i, [key, value]] of operations.entries()) {
      this.changes.push({
        sequence: this.changes.length + 1,
        type: value === undefined ? 'del' : 'put',
        key,
        value,
        time: 1,
        batch,
        first: i === 0,
        last: i === operations.length - 1
      })
    }
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  read({ after = 0, gte, gt, lte, lt }) {
    const bounds = Object.fromEntries(
      Object.entries({ gte, gt, lte, lt }).map(([name, bound]) => [name, bound && String(Buffer.from(bound))])
    )
    let at = after
    let isOver = false
    const isIn = (change) => change.sequence > after && withinBytes(bounds, change.key)
    const over = { done: true, value: undefined }
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: async () => {
        for (;;) {
          if (isOver) return over
          const change = this.changes[at]
          if (change === undefined) await new Promise((resolve) => this.#waiting.add(resolve))
          else {
            at++
            if (isIn(change)) return { done: false, value: this.#clipped(change, isIn) }
          }
        }
      },
      return: async () => {
        isOver = true
        for (const wake of this.#waiting) wake()
        return over
      }
    }
  }

  /** A change with bytes, whose marks are those of a reader of a range. */
  #clipped({ key, value, ...change }, isIn) {
    const batch = this.changes.filter((each) => each.batch === change.batch && isIn(each))
    return {
      ...change,
      key: Buffer.from(key),
      ...(value !== undefined && { value: Buffer.from(value) }),
      first: batch[0].sequence === change.sequence,
      last: batch.at(-1).sequence === change.sequence
    }
  }
}

/** Texts of ASCII are in the order of their bytes. */
function withinBytes({ gte, gt, lte, lt }, key) {
  const isAfter = gte !== undefined ? key >= gte : gt === undefined || key > gt
  return isAfter && (lte !== undefined ? key <= lte : lt === undefined || key < lt)
}

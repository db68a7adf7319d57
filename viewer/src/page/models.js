/** The entries that a list shows. It requests those in view. */

/** Entries from one remembered key to the next: `STRIDE` of the worker's session. */
const STRIDE = 100

/** Pages of entries that are kept. */
const MOST_PAGES = 60

/** Browsers limit a list's height. */
export const MOST_ROWS = 500_000

/** All entries of a range. Every 100th key is remembered; the others are read when they come into view. */
export class RangeModel {
  #client
  #range
  #starts = []
  #pages = new Map()
  #changed
  #failed
  #task
  count = 0
  isDone = false
  /** Whether entries after these cannot be read. */
  hasFailed = false

  constructor(client, range, changed, failed) {
    this.#client = client
    this.#range = range
    this.#changed = changed
    this.#failed = failed
    this.#task = client.start('index', { range }, ({ starts, count }) => {
      for (const start of starts) if (this.#starts.length * STRIDE < MOST_ROWS) this.#starts.push(start)
      this.count = count
      this.#changed()
    })
    this.#task.done.then(
      ({ count }) => {
        this.count = count
        this.isDone = true
        this.#changed()
      },
      (error) => {
        this.isDone = true
        this.hasFailed = true
        this.#failed(error)
        this.#changed()
      }
    )
  }

  get rows() {
    return Math.min(this.count, MOST_ROWS)
  }

  /** The entry of a row; undefined while it is read. The list is notified when it was read. */
  entryAt(row) {
    const number = Math.floor(row / STRIDE)
    const page = this.#pages.get(number)
    if (page === undefined) this.#load(number)
    return page?.[row % STRIDE]
  }

  close() {
    this.#task.cancel()
    this.#changed = () => {}
    this.#failed = () => {}
  }

  #load(number) {
    const from = this.#starts[number]
    if (from === undefined) return
    this.#pages.set(number, [])
    if (this.#pages.size > MOST_PAGES) this.#pages.delete(this.#pages.keys().next().value)
    this.#client.call('page', { range: this.#range, from }).then(
      (entries) => {
        this.#pages.set(number, entries)
        this.#changed()
      },
      (error) => this.#failed(error)
    )
  }
}

/** The entries that a search finds. */
export class FoundModel {
  #entries = []
  #task
  #changed
  seen = 0
  found = 0
  isDone = false
  /** Whether entries after those that were seen cannot be read. */
  hasFailed = false

  constructor(client, range, query, changed, failed) {
    this.#changed = changed
    this.#task = client.start('search', { range, query }, ({ entries, seen, found }) => {
      this.#entries.push(...entries)
      this.seen = seen
      this.found = found
      this.#changed()
    })
    const end = () => {
      this.isDone = true
      this.#changed()
    }
    this.#task.done.then(end, (error) => {
      this.hasFailed = true
      failed(error)
      end()
    })
  }

  get rows() {
    return this.#entries.length
  }

  get count() {
    return this.found
  }

  entryAt(row) {
    return this.#entries[row]
  }

  /** Ends the search. What was found stays. */
  stop() {
    this.#task.cancel()
  }

  close() {
    this.#changed = () => {}
    this.stop()
  }
}

/** A walk over a range of the store, or of a view of it, page by page. */

import { type Bounds, boundsFrom, contains, isEmpty } from './bounds.js'
import type { Connection } from './connection.js'
import type { View } from './history.js'
import { type Entries, entriesOf, inView } from './overlay.js'
import { readRows } from './rows.js'

export interface WalkOptions {
  readonly bounds: Bounds
  readonly reverse: boolean
  readonly hasValues: boolean
  /** The state to walk over; undefined for the current one, while nothing else writes. */
  readonly view: View | undefined
}

export class RangeWalk {
  readonly #connection: Connection
  readonly #options: WalkOptions
  /** The rest of the range. */
  #rest: Bounds
  #hasEnded: boolean

  constructor(connection: Connection, options: WalkOptions) {
    this.#connection = connection
    this.#options = options
    this.#rest = options.bounds
    this.#hasEnded = isEmpty(options.bounds)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Continues with the first key that is not before the target; ends if that is out of bounds. No page is being read. */
  seek(target: Uint8Array<ArrayBuffer>): void {
    const { bounds, reverse } = this.#options
    this.#hasEnded = !contains(bounds, target)
    this.#rest = boundsFrom(bounds, target, false, reverse)
  }

  /**
   * Reads the next entries, from `rows` rows of the store. There may be more or fewer entries, and none even before the end.
   */
  async next(rows: number): Promise<Entries> {
    const { reverse, hasValues, view } = this.#options
    const rest = this.#rest
    const read = await this.#connection.run('readonly', false, (store) =>
      readRows(store, rest, rows, hasValues, reverse)
    )

    let walked = rest
    if (read.keys.length < rows) this.#hasEnded = true
    else {
      const last = read.keys.at(-1) as IDBValidKey
      walked = boundsFrom(rest, last, false, !reverse)
      this.#rest = boundsFrom(rest, last, true, reverse)
      this.#hasEnded = isEmpty(this.#rest)
    }
    const entries = entriesOf(read)
    return view === undefined ? entries : inView(view, entries, walked, hasValues, reverse)
  }
}

/** What is stored about an index besides its entries: its declaration, and how far its building is. */

import type { AnyLevel } from '../level-like.js'

/** The version of the stored form of entries and states. A different one rebuilds the index. */
const FORMAT = 1

export interface State {
  readonly format: number
  /** The signature of the declaration that the entries belong to. */
  readonly signature: string
  /**
   * `clearing`: entries of another declaration may be left. `rebuilding`: like `building`, and then `sweeping`, which removes
   * entries that no record has.
   */
  readonly status: 'clearing' | 'building' | 'rebuilding' | 'sweeping' | 'ready'
  /** The primary key, in hexadecimal, from which on records are not indexed yet. While sweeping, that of the next entry. */
  readonly start: string
  /** The numbers of records that were read, and of entries that were written for them. */
  readonly records: number
  readonly entries: number
}

/** The state of an index that must be built from the beginning. */
export function firstState(signature: string): State {
  return { format: FORMAT, signature, status: 'clearing', start: '', records: 0, entries: 0 }
}

export class StateStore {
  /** The sublevel that holds the states of all indexes of a database. */
  readonly db: AnyLevel
  readonly #name: string

  constructor(db: AnyLevel, name: string) {
    this.db = db
    this.#name = name
  }

  /** Reads the state, if it is readable and belongs to the declaration `signature`. */
  async read(signature: string): Promise<State | undefined> {
    const text = (await this.db.get(this.#name, { valueEncoding: 'utf8' })) as string | undefined
    if (text === undefined) return undefined
    let state: State
    try {
      state = JSON.parse(text) as State
    } catch {
      return undefined
    }
    return state.format === FORMAT && state.signature === signature ? state : undefined
  }

  /** Writes the state. `options` are for hook functions. */
  write(state: State, options: object = {}): Promise<void> {
    return this.db.put(this.#name, state, { ...options, valueEncoding: 'json' })
  }

  delete(): Promise<void> {
    return this.db.del(this.#name)
  }
}

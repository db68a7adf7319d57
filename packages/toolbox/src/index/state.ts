/** What is stored of an index beside its entries: what it is of, and how far its building is. */

import type { AnyLevel } from '../level-like.js'

/** The form in which entries and states are stored. Another one rebuilds the index. */
const FORMAT = 1

export interface State {
  readonly format: number
  /** Of the declaration that the entries belong to. */
  readonly signature: string
  /**
   * `clearing`: entries of another declaration may be left. `rebuilding`: as `building`, and then `sweeping`, which removes entries
   * that no record has.
   */
  readonly status: 'clearing' | 'building' | 'rebuilding' | 'sweeping' | 'ready'
  /** The primary key, in hexadecimal, from which on records are not indexed yet; while sweeping, that of the next entry. */
  readonly start: string
  /** Records that were read, and entries that were written for them. */
  readonly records: number
  readonly entries: number
}

/** The state of an index that is to be built from the beginning. */
export function firstState(signature: string): State {
  return { format: FORMAT, signature, status: 'clearing', start: '', records: 0, entries: 0 }
}

export class StateStore {
  /** The sublevel with the states of all indexes of a database. */
  readonly db: AnyLevel
  readonly #name: string

  constructor(db: AnyLevel, name: string) {
    this.db = db
    this.#name = name
  }

  /** The state, if it can be read and belongs to the declaration `signature`. */
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

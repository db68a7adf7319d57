/** Reads of single keys. All reads called within one microtask share a transaction. */

import type { Bytes } from 'terrace-core'
import { bytesFrom, bytesOf, identityOf, inFormat } from './bytes.js'
import type { Connection } from './connection.js'
import type { View } from './history.js'
import { resultsOf } from './requests.js'

/** The result for a key: its value, or whether it exists. Undefined if it does not. */
type Found = Bytes | true | undefined

interface Lookup {
  readonly keys: readonly Uint8Array<ArrayBuffer>[]
  /** The format of the values; null to check only their presence. */
  readonly format: string | undefined | null
  readonly view: View | undefined
  readonly resolve: (found: Found[]) => void
  readonly reject: (error: unknown) => void
}

export class Reader {
  readonly #connection: Connection
  #waiting: Lookup[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The values of keys. */
  values(
    keys: readonly Bytes[],
    format: string | undefined,
    view: View | undefined
  ): Promise<Array<Bytes | undefined>> {
    return this.#read(keys, format, view) as Promise<Array<Bytes | undefined>>
  }

  /** Whether keys exist. */
  async presence(keys: readonly Bytes[], view: View | undefined): Promise<boolean[]> {
    return (await this.#read(keys, null, view)).map((found) => found !== undefined)
  }

  /** Begins the reads that wait for the end of the microtask. */
  flush(): void {
    const lookups = this.#waiting
    this.#waiting = []
    if (lookups.length > 0) this.#answer(lookups)
  }

  #read(keys: readonly Bytes[], format: Lookup['format'], view: View | undefined): Promise<Found[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) queueMicrotask(() => this.flush())
      this.#waiting.push({ keys: keys.map(bytesOf), format, view, resolve, reject })
    })
  }

  async #answer(lookups: readonly Lookup[]): Promise<void> {
    let results: unknown[]
    try {
      results = await this.#connection.run('readonly', false, (store) => request(store, lookups))
    } catch (error) {
      // A value that cannot be read must not fail the reads of other keys.
      if (lookups.length > 1) for (const lookup of lookups) this.#answer([lookup])
      else lookups[0]?.reject(error)
      return
    }

    let next = 0
    for (const lookup of lookups) {
      const own = results.slice(next, next + lookup.keys.length)
      next += lookup.keys.length
      settle(lookup, own)
    }
  }
}

function request(store: IDBObjectStore, lookups: readonly Lookup[]): Promise<unknown[]> {
  const requests: IDBRequest[] = []
  for (const { keys, format } of lookups) {
    for (const key of keys) requests.push(format === null ? store.getKey(key) : store.get(key))
  }
  return resultsOf(store.transaction, requests)
}

function settle({ keys, format, view, resolve, reject }: Lookup, results: readonly unknown[]): void {
  try {
    resolve(
      results.map((result, index) => {
        const kept = view?.find(identityOf(keys[index] as Uint8Array))
        const value = kept === undefined ? result : kept.value?.slice()
        if (value === undefined) return undefined
        return format === null ? true : inFormat(bytesFrom(value), format)
      })
    )
  } catch (error) {
    reject(error)
  }
}

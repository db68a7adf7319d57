/** The order of writes. Those that are called within one microtask, or while a transaction runs, share the next transaction. */

import type { Operations } from 'terrace-core'
import type { Connection } from './connection.js'
import type { History } from './history.js'
import { type Copies, copiesOf, keepReplaced, request } from './operations.js'
import { committed } from './requests.js'

/** Once a transaction has so much, further writes go to the next one: the browser holds it all in memory. */
const MAX_GROUP_OPERATIONS = 10_000
const MAX_GROUP_BYTES = 8 << 20

interface Settled {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Write extends Settled {
  readonly operations: Copies
  readonly sizeBytes: number
  readonly sync: boolean
}

/** Work that has its turn among the writes. None of them runs meanwhile. */
interface Exclusive extends Settled {
  readonly work: () => Promise<void>
}

export class Writer {
  readonly #connection: Connection
  readonly #history: History
  #waiting: Array<Write | Exclusive> = []
  #running: Promise<void> | undefined

  constructor(connection: Connection, history: History) {
    this.#connection = connection
    this.#history = history
  }

  /** Resolves once the operations are stored. If it rejects, none is. */
  write(operations: Operations, sync: boolean): Promise<void> {
    const copies = copiesOf(operations)
    const sizeBytes = copies.reduce((sum, copy) => sum + (copy?.length ?? 0), 0)
    return new Promise((resolve, reject) =>
      this.#add({ operations: copies, sizeBytes, sync, resolve, reject })
    )
  }

  /** Does work after all writes that were called before, and before all that are called later. */
  alone(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => this.#add({ work, resolve, reject }))
  }

  /** Resolves once nothing is left to do. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Writes operations at once. Only for work that runs alone. */
  commitNow(operations: Copies): Promise<void> {
    return this.#commit([operations], false)
  }

  #add(item: Write | Exclusive): void {
    this.#waiting.push(item)
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // What is called in the same microtask shares a transaction.
    await null
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0] as Write | Exclusive
      if ('work' in first) {
        this.#waiting.shift()
        await settle(first, first.work())
      } else await this.#writeGroup(this.#takeGroup())
    }
    this.#running = undefined
  }

  #takeGroup(): Write[] {
    let [operations, sizeBytes] = [0, 0]
    const end = this.#waiting.findIndex((item, index) => {
      if ('work' in item) return true
      operations += item.operations.length / 2
      sizeBytes += item.sizeBytes
      return index > 0 && (operations > MAX_GROUP_OPERATIONS || sizeBytes > MAX_GROUP_BYTES)
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end) as Write[]
  }

  async #writeGroup(writes: readonly Write[]): Promise<void> {
    const [first] = writes
    if (writes.length === 1 && first !== undefined) {
      return settle(first, this.#commit([first.operations], first.sync))
    }

    try {
      await this.#commit(
        writes.map(({ operations }) => operations),
        writes.some(({ sync }) => sync)
      )
    } catch {
      // Nothing of the group is stored. Only those that cannot be written are to fail.
      for (const write of writes) await settle(write, this.#commit([write.operations], write.sync))
      return
    }
    for (const { resolve } of writes) resolve()
  }

  #commit(groups: readonly Copies[], sync: boolean): Promise<void> {
    return this.#connection.run('readwrite', sync, (store) => {
      const layer = this.#history.current()
      return committed(store.transaction, () => {
        if (layer !== undefined) for (const operations of groups) keepReplaced(store, operations, layer)
        for (const operations of groups) request(store, operations)
      })
    })
  }
}

async function settle({ resolve, reject }: Settled, work: Promise<void>): Promise<void> {
  try {
    await work
    resolve()
  } catch (error) {
    reject(error)
  }
}

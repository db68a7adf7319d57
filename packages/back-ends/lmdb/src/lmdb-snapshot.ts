import type { BackendSnapshot } from 'terrace-core'
import type { LmdbStore, ReadTransaction } from './binding.js'

/** A state of the store: a read transaction that stays open. LMDB keeps the pages that it shows. */
export class LmdbSnapshot implements BackendSnapshot {
  readonly transaction: ReadTransaction

  constructor(store: LmdbStore) {
    this.transaction = store.useReadTransaction()
  }

  close(): void {
    this.transaction.done()
  }
}

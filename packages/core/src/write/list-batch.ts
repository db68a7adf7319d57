import type { Backend, BackendBatch, Bytes, Operations } from '../backend.js'
import { copyOf, OperationList } from './operation-list.js'

/** The batch for a back-end without its own. It copies bytes, because users may change theirs before it is written. */
export class ListBatch implements BackendBatch {
  readonly #backend: Backend
  readonly #list = new OperationList()

  constructor(backend: Backend) {
    this.#backend = backend
  }

  put(key: Bytes, value: Bytes): void {
    this.#list.push(copyOf(key), copyOf(value))
  }

  del(key: Bytes): void {
    this.#list.push(copyOf(key), null)
  }

  append(operations: Operations): void {
    for (const part of operations) this.#list.flat.push(part)
  }

  clear(): void {
    this.#list.truncate(0)
  }

  write(sync: boolean): void | Promise<void> {
    return this.#backend.write(this.#list.flat, sync)
  }

  writeSync(sync: boolean): void {
    this.#backend.writeSync?.(this.#list.flat, sync)
  }

  close(): void {
    this.clear()
  }
}

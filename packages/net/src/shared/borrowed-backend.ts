/** A back-end that somebody else opens and closes. Others use it through a database of their own, without the hooks of the first. */

import type {
  Backend,
  BackendCursor,
  BackendReadOptions,
  BackendSnapshot,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations,
  RangeDeletion
} from 'terrace-core'

export class BorrowedBackend implements Backend {
  readonly manifest: Backend['manifest']
  readonly clear: Backend['clear']
  readonly #backend: Backend
  readonly #writes: Pick<Backend, 'write'>

  /** @param writes - Where writes go. */
  constructor(backend: Backend, writes: Required<Pick<Backend, 'write' | 'clear'>>) {
    const { encodings, permanence } = backend.manifest
    this.manifest = { encodings, ...(permanence !== undefined && { permanence }) }
    this.#backend = backend
    this.#writes = writes
    this.clear =
      backend.clear === undefined
        ? undefined
        : (range: RangeDeletion, snapshot?: BackendSnapshot) => writes.clear(range, snapshot)
  }

  open(): void {}

  close(): void {}

  get(key: Bytes, options: BackendReadOptions, snapshot?: BackendSnapshot): ReturnType<Backend['get']> {
    return this.#backend.get(key, options, snapshot)
  }

  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): ReturnType<Backend['getMany']> {
    return this.#backend.getMany(keys, options, snapshot)
  }

  has(key: Bytes, options: BackendReadOptions, snapshot?: BackendSnapshot): ReturnType<Backend['has']> {
    return this.#backend.has(key, options, snapshot)
  }

  hasMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): ReturnType<Backend['hasMany']> {
    return this.#backend.hasMany(keys, options, snapshot)
  }

  write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#writes.write(operations, sync)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: BackendSnapshot): BackendCursor {
    return this.#backend.cursor(options, parts, snapshot)
  }

  snapshot(): BackendSnapshot {
    return this.#backend.snapshot()
  }
}

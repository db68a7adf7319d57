/** A back-end that its owner opens and closes. It lets another database object use it, without the hooks of the first one. */

import {
  type Backend,
  type BackendCondition,
  type BackendSnapshot,
  ForwardingBackend,
  type Operations,
  type RangeDeletion
} from 'terrace-core'

export class UnownedBackend extends ForwardingBackend {
  readonly manifest: Backend['manifest']
  readonly clear: Backend['clear']
  readonly #backend: Backend
  readonly getEntry: Backend['getEntry']
  readonly writeIf: Backend['writeIf']
  readonly #writes: Pick<Backend, 'write'>

  /** @param writes - Where writes go. */
  constructor(backend: Backend, writes: Required<Pick<Backend, 'write' | 'writeIf' | 'clear'>>) {
    super()
    const { encodings, permanence, conditionalWrites = false, versions = false } = backend.manifest
    this.manifest = {
      encodings,
      conditionalWrites,
      versions,
      ...(permanence !== undefined && { permanence })
    }
    this.#backend = backend
    this.#writes = writes
    this.clear =
      backend.clear === undefined
        ? undefined
        : (range: RangeDeletion, snapshot?: BackendSnapshot) => writes.clear(range, snapshot)
    this.getEntry = backend.getEntry?.bind(backend)
    this.writeIf =
      backend.writeIf === undefined
        ? undefined
        : (conditions: readonly BackendCondition[], operations: Operations, sync: boolean) =>
            writes.writeIf(conditions, operations, sync)
  }

  open(): void {}

  close(): void {}

  protected target(): Backend {
    return this.#backend
  }

  override write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#writes.write(operations, sync)
  }
}

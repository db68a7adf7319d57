import type { Ask } from '../hooks/hook-reads.js'
import { type HookedCall, HookedWrites } from '../hooks/hooked-writes.js'
import { asksFor } from '../hooks/reading-ahead.js'
import { type Watcher, watchersFrom } from '../hooks/watchers.js'
import type { Namespace } from '../sublevel/namespace.js'
import { HookedOperation, keepBytes, type PublicOperation } from './hooked-operation.js'
import type { OperationList } from './operation-list.js'
import type { WriteCall } from './write-call.js'

/** A call of `put`, `del` or `batch`, asynchronous or synchronous, that hook functions or listeners may see. */
export class SubmittedCall implements HookedCall, WriteCall {
  readonly namespace: Namespace
  readonly method: string
  /** Copies, so that hook functions may change them. */
  readonly operations: PublicOperation[]
  readonly sync: boolean
  readonly watchers: readonly Watcher[]

  constructor(
    namespace: Namespace,
    method: string,
    operations: PublicOperation[],
    sync: boolean,
    watchers = watchersFrom(namespace, null)
  ) {
    this.namespace = namespace
    this.method = method
    this.operations = operations
    this.sync = sync
    this.watchers = watchers
  }

  writes(before: OperationList | null): HookedWrites {
    return new HookedWrites(this, before)
  }

  asks(): Ask[] {
    const { owner, store } = this.namespace
    return this.operations.flatMap((operation) =>
      asksFor(store, operation.sublevel ?? owner, () =>
        HookedOperation.of({ ...operation }, owner, store.root)
      )
    )
  }

  keep(): void {
    for (const operation of this.operations) keepBytes(operation)
  }

  copy(): SubmittedCall {
    const { namespace, method, operations, sync, watchers } = this
    const copies = operations.map((operation) => Object.assign({}, operation))
    return new SubmittedCall(namespace, method, copies, sync, watchers)
  }
}

import { isExact, keyEncodingOf, valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { sourceOf } from '../view.js'
import type { Conflict, Coordinator } from './coordinator.js'
import { argumentError, conflictError } from './errors.js'
import type { OwnWrite } from './own-writes.js'
import type { SeenWrite } from './seen-write.js'
import type { Attempt } from './transaction.js'
import { OWN, type OwnBatch, type OwnOperation } from './write-observer.js'

/** The batch of an attempt. The hook refuses it if others have changed what the attempt has read. */
class Commit implements OwnBatch {
  readonly seen: SeenWrite[] = []
  conflict: Conflict | undefined
  readonly #coordinator: Coordinator
  readonly #attempt: Attempt

  constructor(coordinator: Coordinator, attempt: Attempt) {
    this.#coordinator = coordinator
    this.#attempt = attempt
  }

  check(): void {
    const { reading } = this.#attempt
    if (reading !== undefined) this.conflict = this.#coordinator.conflictOf(reading, this)
    if (this.conflict !== undefined) throw conflictError(1)
  }

  /** @throws the errors of `batch`, unless there is a conflict. */
  async write(sync: boolean): Promise<void> {
    try {
      await this.#batch(sync)
    } catch (error) {
      this.#coordinator.observer.failed(this)
      if (this.conflict === undefined) throw error
    }
  }

  #batch(sync: boolean): Promise<void> {
    const writes = [...this.#attempt.writes.all()]
    const target = targetOf(writes, this.#coordinator.root)
    const operations = writes.map(({ db, operation }, index) => {
      if (db !== target) Object.assign(operation, inSublevel(db, operation))
      operation[OWN] = { batch: this, isFirst: index === 0 } satisfies OwnOperation
      return operation
    })

    // Without options, abstract-level copies operations faster.
    return (
      sync ? target.batch(operations as never, { sync } as object) : target.batch(operations as never)
    ) as never
  }
}

/**
 * Commits the writes of an attempt as one batch. If others have changed what it read, returns the conflict.
 *
 * @throws the errors of `batch`.
 */
export async function commit(
  coordinator: Coordinator,
  attempt: Attempt,
  sync: boolean
): Promise<Conflict | undefined> {
  if (attempt.writes.size === 0) {
    // A transaction that has read one state, and writes nothing, took place in that state.
    return attempt.reading?.snapshot === undefined ? attempt.conflict() : undefined
  }

  const own = new Commit(coordinator, attempt)
  await coordinator.inOrder(() => own.write(sync))
  return own.conflict
}

/**
 * The database whose batch it is. Writes to one sublevel go through that sublevel, so that hooks known only to that object run,
 * too. If there is a view, they go through the view, even if other sublevels are written as well, because the view needs its
 * hooks for the expiries.
 *
 * @throws TRANSACTION_INVALID_ARGUMENT if there is more than one view.
 */
function targetOf(writes: OwnWrite[], root: AnyLevel): AnyLevel {
  const written = new Set(writes.map(({ db }) => db))
  const [first = root] = written
  if (written.size === 1) return first
  if (isExact(root)) return root

  const [view, ...others] = [...written].filter((db) => sourceOf(db) !== db)
  if (others.length > 0)
    throw argumentError('On this database, a transaction can write to only one view by ttl()')
  return view ?? root
}

/**
 * What an operation needs in a batch of another database. An operation on a view needs the view's encodings, which the database
 * of the batch may not have.
 */
function inSublevel(db: AnyLevel, { keyEncoding, valueEncoding }: OwnWrite['operation']): object {
  if (sourceOf(db) === db) return { sublevel: db }
  return {
    sublevel: sourceOf(db),
    keyEncoding: keyEncodingOf(db, keyEncoding),
    valueEncoding: valueEncodingOf(db, valueEncoding)
  }
}

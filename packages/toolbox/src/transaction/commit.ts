import { isExact, keyEncodingOf, valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { beneath } from '../view.js'
import type { Conflict, Coordinator } from './coordinator.js'
import { argumentError, conflictError } from './errors.js'
import type { OwnWrite } from './own-writes.js'
import type { SeenWrite } from './seen-write.js'
import type { Attempt } from './transaction.js'
import { OWN, type OwnBatch, type OwnOperation } from './write-observer.js'

/** The batch of an attempt, which the hook refuses if others have changed what the attempt had read. */
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

  /** @throws what `batch` throws, unless there is a conflict. */
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
 * Commits what an attempt wrote, by one batch. Returns the conflict if others have changed what it read.
 *
 * @throws what `batch` throws.
 */
export async function commit(
  coordinator: Coordinator,
  attempt: Attempt,
  sync: boolean
): Promise<Conflict | undefined> {
  if (attempt.writes.size === 0) {
    // What has read one state, and writes nothing, took place at that state.
    return attempt.reading?.snapshot === undefined ? attempt.conflict() : undefined
  }

  const own = new Commit(coordinator, attempt)
  await coordinator.inOrder(() => own.write(sync))
  return own.conflict
}

/**
 * What the batch is of. One sublevel is written through itself, so that its hooks run also where only its own object knows them;
 * there, a view, which needs them for the expiries, even if others are written, too.
 *
 * @throws TRANSACTION_INVALID_ARGUMENT
 */
function targetOf(writes: OwnWrite[], root: AnyLevel): AnyLevel {
  const written = new Set(writes.map(({ db }) => db))
  const [first = root] = written
  if (written.size === 1) return first
  if (isExact(root)) return root

  const [view, ...others] = [...written].filter((db) => beneath(db) !== db)
  if (others.length > 0)
    throw argumentError('On this database, a transaction can write to one view by ttl() only')
  return view ?? root
}

/** What an operation needs in a batch of another database: of a view, the encodings that what is beneath may not have. */
function inSublevel(db: AnyLevel, { keyEncoding, valueEncoding }: OwnWrite['operation']): object {
  if (beneath(db) === db) return { sublevel: db }
  return {
    sublevel: beneath(db),
    keyEncoding: keyEncodingOf(db, keyEncoding),
    valueEncoding: valueEncodingOf(db, valueEncoding)
  }
}

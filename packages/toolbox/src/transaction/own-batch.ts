/** The writes of a transaction as one batch. */

import { isExact, keyEncodingOf, valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { sourceOf } from '../view.js'
import { argumentError } from './errors.js'
import type { OwnWrite, OwnWrites } from './own-writes.js'

/**
 * Returns the database whose batch it is, and the operations.
 *
 * @throws TRANSACTION_INVALID_ARGUMENT if no batch can have all of them.
 */
export function batchOf(
  own: OwnWrites,
  root: AnyLevel
): { target: AnyLevel; operations: Array<OwnWrite['operation']> } {
  const writes = [...own.all()]
  const target = targetOf(writes, root)
  const operations = writes.map(({ db, operation }) =>
    db === target ? operation : Object.assign(operation, inSublevel(db, operation))
  )
  return { target, operations }
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

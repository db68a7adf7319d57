/** Optimistic, serialisable transactions over a database and its sublevels. */

import { rootOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { change, putIfAbsent, putIfEquals, seenThroughView } from './conditional.js'
import { coordinatorOf } from './coordinators.js'
import { argumentError } from './errors.js'
import { checkedOptions, defaultOptions } from './options.js'
import { type Body, run } from './run.js'
import type { AnyOptions, Database, TransactionOptions, Transactions } from './types.js'

export type {
  Change,
  ConditionalOptions,
  Database,
  IteratorOptions,
  KeyOptions,
  Transaction,
  TransactionIterator,
  TransactionOptions,
  Transactions,
  WriteOptions
} from './types.js'
export { MAX_REMEMBERED_KEYS } from './write-observer.js'

/**
 * Prepares a database for transactions, and returns the function that runs them. From then on, every write to the
 * database and its sublevels is observed. Call this right after the database object is created, before anything is
 * written.
 *
 * @param database - A database, or a sublevel, which is then the default of the option `sublevel`.
 * @param options - Defaults for all transactions.
 * @throws TRANSACTION_INVALID_ARGUMENT if an argument or option is not valid.
 */
export function transactions<K, V>(
  database: Database<K, V>,
  options?: Pick<TransactionOptions, 'retries' | 'sync'>
): Transactions<K, V> {
  const defaults = checkedOptions(options, defaultOptions)
  const db = database as unknown as AnyLevel
  const root = rootOf(db)
  if (root?.hooks?.prewrite === undefined)
    throw argumentError('The first argument must be a database of abstract-level 2 or 3')
  const coordinator = coordinatorOf(root)

  const transaction = async <T>(body: Body<T>, options?: TransactionOptions): Promise<T> => {
    if (typeof body !== 'function') throw argumentError('The first argument must be a function')
    return run(coordinator, db, body, checkedOptions(options, defaults))
  }

  return Object.assign(transaction, {
    ifAbsent: (key: unknown, value: unknown, options?: AnyOptions & TransactionOptions) => {
      const [own, others] = split(options, db)
      return transaction((attempt) => putIfAbsent(attempt, key, value, others), own)
    },
    ifEquals: (
      key: unknown,
      expected: unknown,
      value: unknown,
      options?: AnyOptions & TransactionOptions
    ) => {
      const [own, others] = split(options, db)
      return transaction((attempt) => putIfEquals(attempt, db, key, [expected, value], others), own)
    },
    update: (key: unknown, make: (value: unknown) => unknown, options?: AnyOptions & TransactionOptions) => {
      const [own, others] = split(options, db)
      return transaction((attempt) => change(attempt, key, make, others), own)
    }
  }) as unknown as Transactions<K, V>
}

/** Separates the options of the transaction from those of its write to `db`. */
function split(
  options: (AnyOptions & TransactionOptions) | undefined,
  db: AnyLevel
): [TransactionOptions, AnyOptions] {
  const { retries, signal, sync, ...others } = options ?? {}
  return [{ retries, signal, sync }, seenThroughView(db, others)]
}

/** Errors for values that cannot be stored: they name the key, as those of terrace-core do. abstract-level encodes values without it. */

import type { AbstractChainedBatch } from 'abstract-level'
import { type Encoding, encodedValue } from '../encoded.js'

/** What encodes values: a view, or a sublevel of one. */
interface Encodes {
  valueEncoding(encoding?: unknown): Encoding
}

interface GivenOperation {
  type?: string
  key: unknown
  value?: unknown
  valueEncoding?: unknown
  sublevel?: Encodes | null
}

/** Puts or deletes through `write`. If it fails because of a value, the error names that value's key. */
export async function writeNamed(
  db: Encodes,
  operations: unknown,
  options: object | null | undefined,
  write: () => Promise<void>
): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw named(error, db, Array.isArray(operations) ? operations : [], options)
  }
}

/** Makes the errors of a chained batch name keys. */
export function namingBatch<T extends AbstractChainedBatch<never, never, never>>(db: Encodes, batch: T): T {
  const put = batch.put.bind(batch) as (key: unknown, value: unknown, options?: object) => unknown
  const namedPut = (key: unknown, value: unknown, options?: object): unknown => {
    try {
      return put(key, value, options)
    } catch (error) {
      throw named(error, db, [{ key, value }], options)
    }
  }
  return Object.assign(batch, { put: namedPut })
}

function named(
  error: unknown,
  db: Encodes,
  operations: readonly GivenOperation[],
  options: object | null | undefined
): unknown {
  if ((error as { code?: unknown } | null)?.code !== 'LEVEL_INVALID_VALUE') return error
  for (const operation of operations) {
    const {
      type = 'put',
      key,
      value,
      valueEncoding,
      sublevel
    } = { ...options, ...operation } as GivenOperation
    if (type !== 'put') continue
    try {
      encodedValue((sublevel ?? db).valueEncoding(valueEncoding), value, key)
    } catch (error) {
      return error
    }
  }
  return error
}

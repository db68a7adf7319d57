/**
 * Operations of arrays, checked and encoded as abstract-level does it, with the same events. It has no writes within the
 * call; and it copies every operation together with the options of the call, which holds up the event loop: 6 ms with
 * ten thousand operations, 60 ms if there are options, such as `sync`.
 */

import type { Transcoder } from 'abstract-level'
import type { Bytes } from './binding.js'
import { codedError } from './errors.js'

/** An operation as users pass it. */
export interface PublicOperation {
  type: string
  key: unknown
  value?: unknown
  keyEncoding?: unknown
  valueEncoding?: unknown
  sublevel?: Database | null | undefined
}

/** What of a database or sublevel is used here; the types of abstract-level lack some of it. */
export interface Database {
  /** Of a sublevel: the database that it is in. */
  readonly db?: unknown
  readonly hooks: { readonly prewrite: { readonly noop: boolean } }
  _assertValidKey(key: unknown): void
  _assertValidValue(value: unknown): void
  keyEncoding(encoding: unknown): Encoder
  valueEncoding(encoding: unknown): Encoder
  prefixKey(key: Bytes, format: string, local: boolean): Bytes
  listenerCount(event: string): number
  emit(event: string, operations: object[]): boolean
}

type Encoder = Pick<Transcoder.Encoding<unknown, Bytes, unknown>, 'encode' | 'format'>

/** Operations for the addon: keys and values in turns, with null for the value of a key to delete. */
export interface EncodedOperations {
  flat: Array<Bytes | null>
  /** Emits the event 'write' for them, if somebody listens. To be called once they are written. */
  emit(): void
}

/**
 * Checks and encodes operations.
 *
 * @throws as abstract-level does. It does not run prewrite hooks, so there must be none.
 */
export function encodeOperations(
  db: Database,
  operations: readonly PublicOperation[],
  options: object
): EncodedOperations {
  const flat = new Array<Bytes | null>(operations.length * 2)
  const events: object[] | null = db.listenerCount('write') > 0 ? [] : null
  // Options are defaults of each operation, but `sync` is for all.
  const isAlone = events === null && Object.keys(options).every((name) => name === 'sync')
  let index = 0

  for (const given of operations) {
    const operation: PublicOperation = isAlone ? given : { ...options, ...given }
    const { type, key, value } = operation
    const target = operation.sublevel ?? db

    if (target !== db && target.db !== db) {
      throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'sublevel' must be a sublevel of this database")
    }

    target._assertValidKey(key)
    const keyEncoding = target.keyEncoding(operation.keyEncoding)
    const encodedKey = target.prefixKey(keyEncoding.encode(key), keyEncoding.format, false)
    let encodedValue: Bytes | null = null
    let valueEncoding: Encoder | undefined

    if (type === 'put') {
      target._assertValidValue(value)
      valueEncoding = target.valueEncoding(operation.valueEncoding)
      encodedValue = valueEncoding.encode(value)
    } else if (type !== 'del') {
      throw new TypeError("A batch operation must have a type property that is 'put' or 'del'")
    }

    flat[index++] = encodedKey
    flat[index++] = encodedValue
    events?.push(eventOf(db, operation, target, { keyEncoding, encodedKey, valueEncoding, encodedValue }))
  }

  return {
    flat,
    emit() {
      if (events !== null) db.emit('write', events)
    }
  }
}

interface Encoded {
  keyEncoding: Encoder
  encodedKey: Bytes
  valueEncoding: Encoder | undefined
  encodedValue: Bytes | null
}

/** An operation as the event 'write' shows it. One on a sublevel is shown as what it is for the database. */
function eventOf(db: Database, operation: PublicOperation, target: Database, encoded: Encoded): object {
  const { keyEncoding, encodedKey, valueEncoding, encodedValue } = encoded
  const event: Record<string, unknown> = { ...operation, keyEncoding, encodedKey }

  if (valueEncoding !== undefined) Object.assign(event, { valueEncoding, encodedValue })
  if (target === db) return event

  event.sublevel = null
  event.key = encodedKey
  event.keyEncoding = db.keyEncoding(keyEncoding.format)

  if (valueEncoding !== undefined) {
    event.value = encodedValue
    event.valueEncoding = db.valueEncoding(valueEncoding.format)
  }

  return event
}

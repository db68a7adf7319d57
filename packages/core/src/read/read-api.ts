/** `getSync` and `getEntry` of a database or sublevel. All other reads of abstract-level get their encodings from `keyEncoding()` and `valueEncoding()`. */

import type { Bytes } from '../backend.js'
import { codedError } from '../errors.js'
import { afterYield } from '../event-loop.js'
import { type ExactEncoding, prefixed } from '../level/database.js'
import type { PrivateReadOptions } from '../level/store.js'
import type { Namespace } from '../sublevel/namespace.js'
import { noVersions } from '../write/conditional-write.js'
import { assertOpen, isOpen, whenOpen } from '../write/write-api.js'
import { backendSnapshot, type Snapshot } from './snapshot.js'

/** Options as users pass them. */
interface Options extends Omit<PrivateReadOptions, 'keyEncoding' | 'valueEncoding'> {
  keyEncoding?: unknown
  valueEncoding?: unknown
}

/** Returns the value of a key, or undefined if the key does not exist. */
export function getSync(
  { owner, prefix, store }: Namespace,
  key: unknown,
  options?: Options | null
): unknown {
  assertOpen(owner, 'getSync')
  owner._assertValidKey(key)
  const keys = owner.keyEncoding(options?.keyEncoding)
  const values = owner.valueEncoding(options?.valueEncoding)
  const rootKey = prefixed(prefix, keys.encode(key), keys.format)
  const formats = { keyEncoding: keys.format, valueEncoding: values.format }
  if (options === undefined || options === null) return decoded(values, store.getSync(rootKey, formats))

  const snapshot = options.snapshot as Snapshot | null | undefined
  snapshot?.ref()
  try {
    return decoded(values, store.getSync(rootKey, { ...options, ...formats }))
  } finally {
    snapshot?.unref()
  }
}

/** Returns the value of a key and the version of its entry, or undefined if the key does not exist. */
export async function getEntry(
  namespace: Namespace,
  key: unknown,
  options?: Options | null
): Promise<unknown> {
  const { owner, prefix, store } = namespace
  if (!isOpen(namespace)) return whenOpen(namespace, () => getEntry(namespace, key, options), 'getEntry()')
  const { backend } = store
  if (backend.getEntry === undefined || backend.manifest.versions !== true) throw noVersions()
  owner._assertValidKey(key)
  const keys = owner.keyEncoding(options?.keyEncoding)
  const values = owner.valueEncoding(options?.valueEncoding)
  const rootKey = prefixed(prefix, keys.encode(key), keys.format)
  const snapshot = options?.snapshot as Snapshot | null | undefined
  snapshot?.ref()
  try {
    const formats = { ...options, keyEncoding: keys.format, valueEncoding: values.format }
    const found = await afterYield(backend.getEntry(rootKey, formats, backendSnapshot(snapshot)))
    return found === undefined ? undefined : { value: decoded(values, found[0]), version: found[1] }
  } finally {
    snapshot?.unref()
  }
}

/** Decodes what was read; undefined stays undefined. */
export function decoded(values: ExactEncoding, value: Bytes | undefined): unknown {
  if (value === undefined) return undefined
  try {
    return values.decode(value)
  } catch (cause) {
    throw Object.assign(codedError('LEVEL_DECODE_ERROR', 'Could not decode value'), { cause })
  }
}

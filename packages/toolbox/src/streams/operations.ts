import { codedError } from '../errors.js'

/** An item that a writable stream accepts: an entry, a batch operation with its options, or a pair. */
export type WritableEntry<K = string, V = string> =
  | { type?: 'put' | undefined; key: K; value: V }
  | { type: 'del'; key: K }
  | [key: K, value: V]

/** The batch operation that an entry stands for. */
export function operationOf(entry: unknown): object {
  if (Array.isArray(entry) && entry.length === 2) return { type: 'put', key: entry[0], value: entry[1] }

  if (typeof entry === 'object' && entry !== null && !Array.isArray(entry) && 'key' in entry) {
    const { type = 'put' } = entry as { type?: unknown }
    if (type === 'del' || (type === 'put' && 'value' in entry)) return { ...entry, type }
  }

  throw codedError(
    'STREAM_INVALID_ENTRY',
    "Each entry must be { key, value }, { type: 'del', key } or [key, value]"
  )
}

/** Many keys or operations in one call of the addon, and what it answers. */

import type { Bytes, FoundMany } from './binding.js'
import { Pieces } from './pieces.js'
import type { Snapshot } from './snapshot.js'

/** Arguments are passed on the stack, which has no room for any number of them. */
export const MAX_SPREAD = 2048

/** The values of {@link Binding.getMany}. Its array is used for them. */
export function valuesOf(found: FoundMany): Array<Bytes | undefined> {
  const pieces = new Pieces(found.shift() as Buffer | undefined)
  const values = found as unknown as Array<Bytes | number | undefined>

  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value === 'number') values[i] = pieces.take(value)
  }

  return values as Array<Bytes | undefined>
}

/** Reads more keys than can be passed at once, from one state. */
export async function inParts<T, Options extends { snapshot?: unknown }>(
  db: { snapshot(): Snapshot },
  keys: Bytes[],
  options: Options,
  read: (keys: Bytes[], options: Options) => T[] | Promise<T[]>
): Promise<T[]> {
  const snapshot = options.snapshot ?? db.snapshot()
  const found: T[] = []

  try {
    for (let i = 0; i < keys.length; i += MAX_SPREAD) {
      for (const each of await read(keys.slice(i, i + MAX_SPREAD), { ...options, snapshot })) found.push(each)
    }
  } finally {
    if (snapshot !== options.snapshot) await (snapshot as Snapshot).close()
  }

  return found
}

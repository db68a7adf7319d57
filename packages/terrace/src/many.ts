/** Many keys or operations in one call of the addon, and the results. */

import { type Bytes, PackedBuffer } from 'terrace-core'
import type { NativeBatch } from './binding.js'
import { binding } from './load-binding.js'
import type { FoundMany } from './native.js'
import type { NativeSnapshot } from './native-snapshot.js'

/** The most arguments of one call. They are passed on the stack, which has limited room. */
export const MAX_SPREAD = 2048

/** The values that {@link Binding.getMany} found. They take the place of its result in the same array. */
export function valuesOf(found: FoundMany): Array<Bytes | undefined> {
  const pieces = new PackedBuffer(found.shift() as Buffer | undefined)
  const values = found as unknown as Array<Bytes | number | undefined>

  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value === 'number') values[i] = pieces.take(value)
  }

  return values as Array<Bytes | undefined>
}

/** Reads more keys than one call can pass, all from the same state. */
export async function inParts<T>(
  backend: { snapshot(): NativeSnapshot },
  keys: Bytes[],
  given: NativeSnapshot | undefined,
  read: (keys: Bytes[], snapshot: NativeSnapshot) => T[] | Promise<T[]>
): Promise<T[]> {
  const snapshot = given ?? backend.snapshot()
  const found: T[] = []

  try {
    for (let i = 0; i < keys.length; i += MAX_SPREAD) {
      for (const each of await read(keys.slice(i, i + MAX_SPREAD), snapshot)) found.push(each)
    }
  } finally {
    if (snapshot !== given) snapshot.close()
  }

  return found
}

/** Adds operations to a batch. Keys and values alternate. */
export function appendAll(batch: NativeBatch, operations: ReadonlyArray<Bytes | null>): void {
  for (let i = 0; i < operations.length; i += MAX_SPREAD)
    binding.batchAppend(batch, ...operations.slice(i, i + MAX_SPREAD))
}

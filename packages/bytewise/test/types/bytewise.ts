// Checked by the compiler, not run: what the declarations allow and what they refuse.

import { Level } from 'terrace'
import defaultExport, {
  type Bound,
  type BytewiseError,
  between,
  bytewise,
  decode,
  encode,
  type Key,
  type KeyRange,
  lower,
  MAX_DEPTH,
  prefix,
  upper
} from 'terrace-bytewise'

/** Accepts only a value whose type is exactly `T`. Any other value would need an argument that does not exist. */
function expectType<T>(): <U>(value: U, ...missing: Equal<T, U> extends true ? [] : [never]) => void {
  return () => undefined
}

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false

export async function databases(): Promise<void> {
  const db = new Level<[string, number], string>('directory', { keyEncoding: bytewise })
  expectType<string | undefined>()(await db.get(['a', 1]))
  const found: [string, number][] = await db.keys(prefix(['a'])).all()
  void found
  await db.clear(between(['a', 1], ['a', 2]))

  const any = new Level<Key, string>('directory', { keyEncoding: defaultExport })
  await any.put(new Map([['a', [1n, null, new Date(), Buffer.from('a'), new Float32Array(1)]]]), 'b')
  await any.put(['a', ['b', new Set([1])]] as const, 'c')

  // @ts-expect-error the key of this database is a pair
  await db.get(['a'])
}

export function keys(error: BytewiseError): void {
  expectType<Uint8Array>()(encode(['a', 1]))
  expectType<Key>()(decode(encode(null)))
  expectType<Bound>()(lower())
  expectType<Bound>()(upper(['a']))
  expectType<KeyRange>()(prefix('a'))
  expectType<number>()(MAX_DEPTH)
  expectType<number | undefined>()(error.offset)

  // @ts-expect-error a plain object is no key
  encode({ a: 1 })
  // @ts-expect-error a function is no key
  encode([() => undefined])
  // @ts-expect-error a symbol is no key
  encode(Symbol('a'))
  // @ts-expect-error there are two ends
  between('a')
  // @ts-expect-error bytes are decoded
  decode('7061')
  // @ts-expect-error an unknown code
  if (error.code === 'BYTEWISE_UNKNOWN') return
}

// What the generated databases contain; contents.py says the same for Python.

/** Keys in the order of their numbers. */
const key = (number) => Buffer.from(`key-${String(number).padStart(6, '0')}`)

/** Compressible, of varying length; empty for every 97th. */
const value = (number, version = 1) =>
  Buffer.from(number % 97 === 0 ? '' : `value ${version} of key ${number}; `.repeat(1 + (number % 7)))

/** Three generations: everything, then every third again, then every fifth deleted, with a flush between. */
export async function fill(put, del, flush) {
  for (let number = 0; number < 3000; number++) await put(key(number), value(number))
  await flush()
  for (let number = 0; number < 3000; number += 3) await put(key(number), value(number, 2))
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
  await put(Buffer.alloc(0), Buffer.from('the empty key'))
  await put(Buffer.from(bytes), Buffer.from(bytes.toReversed()))
  await put(Buffer.from('large'), Buffer.from('0123456789abcdef'.repeat(4096)))
  await flush()
  for (let number = 0; number < 3000; number += 5) await del(key(number))
}

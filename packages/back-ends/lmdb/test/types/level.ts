// Checked by the compiler, not run: a database in LMDB in TypeScript.

import { type DatabaseOptions, type LmdbError, LmdbLevel, MAX_KEY_SIZE_BYTES } from 'terrace-lmdb'

const options: DatabaseOptions<string, { colour: string }> = {
  valueEncoding: 'json',
  shared: true,
  maxReaders: 10
}
const db = new LmdbLevel('./shop', options)
const limit: number = MAX_KEY_SIZE_BYTES

// @ts-expect-error: it is an option of the constructor alone.
db.open({ shared: true })
// @ts-expect-error: the value has no such property.
db.put('apple', { color: 'red' })

export async function use(): Promise<string | undefined> {
  await db.open({ readOnly: true })
  await db.batch([{ type: 'put', key: 'apple', value: { colour: 'red' } }], { sync: true })
  const fruit = db.sublevel('fruit', { keyEncoding: 'buffer', valueEncoding: 'json' })
  await fruit.clear({ limit: limit })
  for (const [key, { colour }] of db.iterateSync({ gte: 'a' })) console.log(key.length, colour.length)

  const snapshot = db.snapshot()
  const value = await db.get('apple', { snapshot })
  await snapshot.close()
  await LmdbLevel.destroy(db.location)
  return value?.colour
}

export function isTooLong(error: LmdbError): boolean {
  return error.code === 'LEVEL_KEY_TOO_LARGE' && error.path === undefined
}

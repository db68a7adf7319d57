// Checked by the compiler, not run: a database in an object store in TypeScript.

import { type DatabaseOptions, MAX_KEY_SIZE_BYTES, type SlateError, SlateLevel } from 'terrace-slatedb'

const options: DatabaseOptions<string, { colour: string }> = {
  valueEncoding: 'json',
  acknowledge: 'memory',
  flushIntervalMs: 50,
  storeOptions: { AWS_REGION: 'eu-north-1' }
}
const db = new SlateLevel('s3://bucket/shop', options)
const limit: number = MAX_KEY_SIZE_BYTES

// @ts-expect-error: they are options of the constructor alone.
db.open({ storeOptions: {} })
// @ts-expect-error: there are two ways.
db.open({ acknowledge: 'disk' })
// @ts-expect-error: the value has no such property.
db.put('apple', { color: 'red' })

export async function use(): Promise<string | undefined> {
  await db.open({ readOnly: true, refreshIntervalMs: 1000, deadlineMs: 5000 })
  await db.refresh()
  await db.batch([{ type: 'put', key: 'apple', value: { colour: 'red' } }], { sync: true })
  await db.sublevel('fruit', { keyEncoding: 'buffer' }).clear({ limit })
  const snapshot = db.snapshot()
  const value = await db.get('apple', { snapshot })
  await snapshot.close()
  return value?.colour
}

export function isFenced(error: SlateError): boolean {
  return error.code === 'LEVEL_FENCED' && error.location === db.location
}

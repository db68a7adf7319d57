// Checked by the compiler, not run: a database in MySQL in TypeScript.

import {
  type DatabaseOptions,
  MAX_KEY_SIZE_BYTES,
  type MysqlError,
  MysqlLevel,
  type ServerOptions
} from 'terrace-mysql'

const options: DatabaseOptions<string, { colour: string }> = {
  valueEncoding: 'json',
  shared: false,
  deadlineMs: 1000,
  tls: { ca: 'certificate' }
}
const server: ServerOptions = { hosts: ['localhost:3306'], user: 'shop', schema: 'shop' }
const db = new MysqlLevel(server, options)
const limit: number = MAX_KEY_SIZE_BYTES

// @ts-expect-error: it is an option of the constructor alone.
db.open({ shared: true })
// @ts-expect-error: the value has no such property.
db.put('apple', { color: 'red' })

export async function use(): Promise<string | undefined> {
  await db.open({ createIfMissing: false })
  await db.batch([{ type: 'put', key: 'apple', value: { colour: 'red' } }], { sync: true })
  const fruit = db.sublevel('fruit', { keyEncoding: 'buffer', valueEncoding: 'json' })
  await fruit.clear({ limit: limit })
  for await (const [key, { colour }] of db.iterator({ gte: 'a' })) console.log(key.length, colour.length)

  const snapshot = db.snapshot()
  const value = await db.get('apple', { snapshot })
  await snapshot.close()
  console.log(db.location, db.server?.flushesCommits)
  return value?.colour
}

export function isTooLong(error: MysqlError): boolean {
  return error.code === 'LEVEL_KEY_TOO_LARGE' && error.cause === undefined
}

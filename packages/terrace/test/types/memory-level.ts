// Checked by the compiler, not run: a database in memory in TypeScript.

import type { AbstractLevel } from 'abstract-level'
import terrace, {
  type LevelErrorCode,
  type MemoryDatabaseOptions,
  MemoryLevel,
  type MemoryOpenOptions,
  type MemoryStats
} from 'terrace'

const options: MemoryDatabaseOptions<string, { colour: string }> = {
  valueEncoding: 'json',
  storeEncoding: 'buffer',
  maxSizeBytes: 1 << 20
}
const later: MemoryOpenOptions = { maxSizeBytes: Infinity }
const full: LevelErrorCode = 'LEVEL_SIZE_LIMIT'
const db = new MemoryLevel(options)
const plain: AbstractLevel<string | Buffer | Uint8Array, string, string> = new MemoryLevel()
void [plain, full, terrace.MemoryLevel, new MemoryLevel('ignored', options)]

// @ts-expect-error: it is an option of the constructor alone.
db.open({ storeEncoding: 'buffer' })
// @ts-expect-error: the value has no such property.
db.put('apple', { color: 'red' })
// @ts-expect-error: it has no directory.
void db.location
// @ts-expect-error: an option of another type
const wrong: MemoryOpenOptions = { maxSizeBytes: '1' }
void wrong

export async function use(): Promise<string | undefined> {
  await db.open(later)
  db.putSync('apple', { colour: 'red' })
  await db.batch([{ type: 'put', key: 'apple', value: { colour: 'red' } }], { sync: true })
  for (const [key, { colour }] of db.iterateSync({ gte: 'a' })) console.log(key.length, colour.length)
  const { entries, sizeBytes }: MemoryStats = db.stats()
  const size: number = await db.approximateSize('a', 'b')

  const snapshot = db.snapshot()
  const value = await db.get('apple', { snapshot })
  await snapshot.close()
  return entries + sizeBytes > size ? value?.colour : undefined
}

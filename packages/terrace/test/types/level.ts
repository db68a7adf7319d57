// Checked by the compiler, not run: what the declarations allow and what they refuse.

import type { AbstractIterator, AbstractLevel, AbstractSnapshot } from 'abstract-level'
import terrace, {
  type ChainedBatch,
  type ClassicLevel,
  type DatabaseOptions,
  Level,
  type LevelError,
  type OpenOptions,
  type PrewriteFunction,
  type RepairReport,
  type Snapshot,
  type Stats,
  type Sublevel,
  type WatchedOperation,
  type WatchedWrites,
  type WriteCondition
} from 'terrace'

/** Accepts only a value whose type is exactly `T`. Any other value would need an argument that does not exist. */
function expectType<T>(): <U>(value: U, ...missing: Equal<T, U> extends true ? [] : [never]) => void {
  return () => undefined
}

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false

export async function strings(): Promise<void> {
  const db = new Level('directory')
  const classic: ClassicLevel = db
  const abstract: AbstractLevel<string | Buffer | Uint8Array, string, string> = db
  void [classic, abstract, terrace.ClassicLevel, terrace.Level]

  expectType<string | undefined>()(await db.get('key'))
  expectType<string | undefined>()(await db.get('key', { fillCache: false }))
  expectType<string | undefined>()(db.getSync('key'))
  expectType<(string | undefined)[]>()(await db.getMany(['a', 'b'], { fillCache: true }))
  expectType<boolean>()(await db.has('key', { fillCache: false }))
  expectType<boolean[]>()(await db.hasMany(['key']))
  expectType<void>()(await db.put('key', 'value', { sync: true }))
  expectType<void>()(await db.del('key', { sync: true }))
  expectType<string>()(db.location)
  expectType<number>()(await db.approximateSize('a', 'b'))
  expectType<void>()(await db.compactRange('a', 'b'))
  expectType<void>()(await db.checkpoint('directory'))
  expectType<string>()(db.getProperty('leveldb.stats'))
  expectType<Stats>()(db.stats())
  expectType<void>()(await Level.destroy('directory'))
  expectType<RepairReport>()(await Level.repair('directory', { comparator: 'idb_cmp1' }))

  // @ts-expect-error a key is a string
  await db.get(1)
  // @ts-expect-error a value is a string
  await db.put('key', { a: 1 })
  // @ts-expect-error an option of another type
  await db.put('key', 'value', { sync: 'yes' })
  // @ts-expect-error both ends are needed
  await db.approximateSize('a')
  // @ts-expect-error a location is needed
  new Level()
  // @ts-expect-error not a public method
  db._get('key', {})
}

export async function otherTypes(): Promise<void> {
  const db = new Level<number, { name: string }>('directory', { keyEncoding: 'json', valueEncoding: 'json' })
  expectType<{ name: string } | undefined>()(await db.get(1))
  expectType<string | undefined>()(await db.get<string, string>('a', { valueEncoding: 'utf8' }))
  await db.batch([
    { type: 'put', key: 1, value: { name: 'a' } },
    { type: 'del', key: 2 }
  ])
  await db.batch<string, string>([{ type: 'put', key: 'a', value: 'b' }], { sync: true, keyEncoding: 'utf8' })

  const batch = db.batch()
  expectType<ChainedBatch<typeof db, number, { name: string }>>()(batch)
  await batch.put(1, { name: 'a' }).del(2).write({ sync: true })

  const users = db.sublevel<string, boolean>('users', { valueEncoding: 'json' })
  for await (const operations of db.watch({ gte: 1 })) {
    expectType<Array<WatchedOperation<number, { name: string }>>>()(operations)
    for (const operation of operations) if (operation.type === 'clear') operation.includes(1)
  }
  expectType<WatchedWrites<string, boolean>>()(db.watch<string, boolean>({ sublevel: users }))
  expectType<boolean | undefined>()(await users.get('a'))

  // @ts-expect-error a key is a number
  await db.put('a', { name: 'a' })
  // @ts-expect-error an operation has a known type
  await db.batch([{ type: 'move', key: 1 }])
}

export async function sublevels(): Promise<void> {
  const db = new Level('directory')
  const users: Sublevel<Level, string, { name: string }> = db.sublevel('users', { valueEncoding: 'json' })
  const strings: AbstractLevel<string | Buffer | Uint8Array, string, string> = db.sublevel(['a', 'b'])
  const deep = users.sublevel<Buffer, number>('deep', { keyEncoding: 'buffer', valueEncoding: 'json' })
  void strings

  expectType<{ name: string } | undefined>()(users.getSync('1'))
  users.putSync('1', { name: 'a' }, { sync: true })
  users.batchSync([{ type: 'del', key: '1' }])
  for (const [key, value] of users.iterateSync({ gte: 'a' })) {
    expectType<string>()(key)
    expectType<{ name: string }>()(value)
  }
  for await (const key of deep.keys()) expectType<Buffer>()(key)
  await deep.batch().put(Buffer.from('a'), 1).write()

  // @ts-expect-error a value is an object with a name
  await users.put('1', 'a')
  // @ts-expect-error a key is a buffer
  deep.delSync('a')
}

export function hooks(): void {
  const db = new Level('directory')
  const users = db.sublevel('users')
  const run: PrewriteFunction = (operation, batch) => {
    batch.add({ type: 'del', key: operation.key, sublevel: users })
  }
  users.hooks.prewrite.add(run, { everyWrite: true })
  users.hooks.prewrite.delete(run)
  db.hooks.postopen.add(async () => {})
  db.hooks.newsub.add((sublevel) => sublevel.prefixKey('a', 'utf8', true))

  // @ts-expect-error an option of another type
  db.hooks.prewrite.add(run, { everyWrite: 1 })
  // @ts-expect-error not a public property
  db.namespace
  // @ts-expect-error not a public property
  users.children
}

export async function iterators(): Promise<void> {
  const db = new Level<string, Buffer>('directory', { valueEncoding: 'buffer' })
  const iterator: AbstractIterator<typeof db, string, Buffer> = db.iterator({
    gte: 'a',
    lt: 'b',
    reverse: true,
    limit: 10,
    fillCache: true,
    highWaterMarkBytes: 1024,
    signal: new AbortController().signal
  })

  for await (const [key, value] of iterator) {
    expectType<string>()(key)
    expectType<Buffer>()(value)
  }

  for await (const key of db.keys({ highWaterMarkBytes: 0 })) expectType<string>()(key)
  for await (const value of db.values<string, string>({ valueEncoding: 'utf8' })) expectType<string>()(value)
  expectType<[string, Buffer][]>()(await db.iterator().all())

  // @ts-expect-error a mark is a number
  db.iterator({ highWaterMarkBytes: '1024' })
}

export async function snapshots(): Promise<void> {
  const db = new Level('directory')
  const snapshot = db.snapshot()
  expectType<Snapshot>()(snapshot)
  const abstract: AbstractSnapshot = snapshot
  await db.get('key', { snapshot })
  await db.has('key', { snapshot })
  db.iterator({ snapshot })
  await abstract.close()

  // @ts-expect-error not a public property
  snapshot.native
}

export function options(): void {
  const open: OpenOptions = {
    preset: 'server',
    compression: 'zstd',
    cacheSize: 1,
    writeBufferSize: 1,
    blockSize: 1,
    maxOpenFiles: 1,
    blockRestartInterval: 1,
    maxFileSize: 1,
    filterBitsPerKey: 1,
    hashIndexPercent: 1,
    mapTables: true,
    mapLog: true,
    multithreading: true,
    sharedResources: true,
    readOnly: true,
    paranoidChecks: true,
    comparator: 'idb_cmp1',
    createIfMissing: true,
    errorIfExists: true,
    passive: true
  }

  const database: DatabaseOptions<string, string> = { valueEncoding: 'utf8', compression: false }
  void [open, database]

  // @ts-expect-error an unknown compression
  const compression: OpenOptions = { compression: 'lz77' }
  // @ts-expect-error an unknown comparator
  const comparator: OpenOptions = { comparator: 'reverse' }
  // @ts-expect-error passive is for open() only
  const passive: DatabaseOptions<string, string> = { passive: true }
  void [compression, comparator, passive]
}

export async function conditions(db: Level<string, number>): Promise<void> {
  const users = db.sublevel<string[], { name: string }>('users', {
    keyEncoding: 'json',
    valueEncoding: 'json'
  })
  const snapshot = db.snapshot()
  const entry = await users.getEntry(['Ada'])
  expectType<{ name: string } | undefined>()(entry?.value)
  const conditions: WriteCondition[] = [
    { key: 'a', exists: false },
    { key: 'a', value: 1 },
    { key: ['Ada'], version: entry?.version, sublevel: users },
    { gte: 'a', unchangedSince: snapshot },
    { unchangedSince: 7 }
  ]
  await db.put('b', 2, { if: conditions })
  await db.batch([{ type: 'del', key: 'a' }], { if: conditions, sync: true })

  expectType<number | undefined>()(await db.update('n', (n = 0) => n + 1))
  expectType<number | undefined>()(await db.update('n', async (n = 0) => n + 1, { retries: 3 }))
  await users.update(['Ada'], (user) => ({ name: `${user?.name}!` }))
  // @ts-expect-error the function returns another type
  await db.update('n', (n = 0) => String(n))
  // @ts-expect-error there is no such option
  await db.update('n', (n = 0) => n, { tries: 3 })
}

export function errors(error: LevelError): void {
  if (error.code === 'LEVEL_CORRUPTION') {
    expectType<string | undefined>()(error.path)
    expectType<number | undefined>()(error.offset)
  }

  // @ts-expect-error an unknown code
  if (error.code === 'LEVEL_UNKNOWN') return
}

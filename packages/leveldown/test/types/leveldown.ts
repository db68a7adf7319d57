// Checked by the compiler, not run: the types of the package, under the names of @types/leveldown.

import { MemoryLevel } from 'terrace'
import leveldown, {
  type AbstractLevelDown,
  type Bytes,
  type ErrorCallback,
  type LevelDown,
  type LevelDownClearOptions,
  type LevelDownError,
  type LevelDownGetOptions,
  type LevelDownIterator,
  type LevelDownIteratorOptions,
  type LevelDownOpenOptions,
  type LevelDownPutOptions
} from 'terrace-leveldown'
import memdown from 'terrace-leveldown/memory'
import { addStreams, type LevelStreams } from 'terrace-leveldown/streams'

const db: LevelDown = leveldown('./db')
const other: LevelDown = new leveldown('./db')
const memory: AbstractLevelDown = memdown()
const over: LevelDown = leveldown.from(new MemoryLevel())
void [other, memory, over]

const open: LevelDownOpenOptions = { createIfMissing: true, cacheSize: 1 << 20, preset: 'server' }
const done: ErrorCallback = (error) => console.log(error?.message)
db.open(open, done)
db.open(done)
const read: LevelDownGetOptions = { asBuffer: false }
db.get('a', read, (error, value: Bytes) => console.log(error, value))
const write: LevelDownPutOptions = { sync: true }
db.put('a', Buffer.from('b'), write, done)
db.batch(
  [
    { type: 'put', key: 'a', value: 'b' },
    { type: 'del', key: 'c' }
  ],
  done
)
db.batch().put('a', 'b').del('c').write(done)
const range: LevelDownClearOptions = { gt: 'a', limit: 1 }
db.clear(range, done)
db.approximateSize('a', 'b', (error, size: number) => console.log(error, size))
const options: LevelDownIteratorOptions = { ...range, keyAsBuffer: false, highWaterMark: 1 }
const iterator: LevelDownIterator = db.iterator(options)
iterator.next((error, key, value) => console.log(error, key, value)).seek('b')
const code: string | undefined = (new Error() as LevelDownError).code
void code

async function loop(): Promise<void> {
  const values: Array<Bytes | undefined> = await db.getMany(['a'])
  for await (const [key, value] of db.iterator()) console.log(key, value, values)
}
void loop
leveldown.destroy('./db', done)

// @ts-expect-error: it needs a location.
leveldown()
// @ts-expect-error: it needs a callback.
db.put('a', 'b')
// @ts-expect-error: an option of another type
db.open({ cacheSize: 'large' }, done)
// @ts-expect-error: it has no files.
memory.approximateSize('a', 'b', () => {})

const streams: MemoryLevel<string, string> & LevelStreams = addStreams(new MemoryLevel<string, string>())
streams.createReadStream({ start: 'a', limit: 1, fillCache: true }).on('data', console.log)
streams.createWriteStream({ type: 'del' }).end({ key: 'a' })
// @ts-expect-error: an option of another type
streams.createKeyStream({ limit: 'all' })

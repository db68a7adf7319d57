// Checked by the compiler, not run: a program written for @types/leveldown. Here, `leveldown` has these types.
// definitely-typed.test.js compiles it again with our package under that name.

import leveldown, {
  type Bytes,
  type ErrorSizeCallback,
  type LevelDown,
  type LevelDownBatchOptions,
  type LevelDownClearOptions,
  type LevelDownDelOptions,
  type LevelDownGetOptions,
  type LevelDownIterator,
  type LevelDownIteratorOptions,
  type LevelDownOpenOptions,
  type LevelDownPutOptions
} from 'leveldown'

const db: LevelDown = leveldown('./db')
const other: LevelDown = new leveldown('./other')
const done = (error: Error | undefined): void => console.log(error?.message)
const found = (error: Error | undefined, value: Bytes): void => console.log(error, value)

const opening: LevelDownOpenOptions = {
  createIfMissing: true,
  errorIfExists: false,
  compression: true,
  cacheSize: 1 << 20,
  writeBufferSize: 1 << 20,
  blockSize: 4096,
  maxOpenFiles: 100,
  blockRestartInterval: 16,
  maxFileSize: 1 << 21
}
opening.cacheSize = 8 << 20
db.open(done)
db.open(opening, done)
other.close(done)

const reading: LevelDownGetOptions = { asBuffer: false, fillCache: true }
db.get('a', found)
db.get(Buffer.from('a'), reading, found)
db.getMany(['a', Buffer.from('b')], (error: Error | undefined, values: Bytes[]) => console.log(error, values))
db.getMany(['a'], reading, (error, values) => console.log(error, values.length))

const putting: LevelDownPutOptions = { sync: true }
const deleting: LevelDownDelOptions = { sync: true }
const writing: LevelDownBatchOptions = { sync: true }
db.put('a', Buffer.from('b'), done)
db.put('a', 'b', putting, done)
db.del('a', done)
db.del('a', deleting, done)
db.batch(
  [
    { type: 'put', key: 'a', value: 'b' },
    { type: 'del', key: 'c' }
  ],
  done
)
db.batch([{ type: 'del', key: 'c' }], writing, done)
const batch = db.batch().put('a', 'b').del('c').clear()
batch.write(done)
batch.write({ sync: true }, done)

const clearing: LevelDownClearOptions = {
  gt: 'a',
  gte: 'a',
  lt: Buffer.from('b'),
  lte: 'b',
  reverse: true,
  limit: 1
}
db.clear(done)
db.clear(clearing, done)

const ranging: LevelDownIteratorOptions = {
  gt: 'a',
  gte: 'a',
  lt: 'b',
  lte: Buffer.from('b'),
  reverse: true,
  limit: 1,
  keys: true,
  values: true,
  keyAsBuffer: false,
  valueAsBuffer: false,
  fillCache: true
}
const iterator: LevelDownIterator = db.iterator(ranging)
db.iterator()
  .next((error: Error | undefined, key: Bytes, value: Bytes) => console.log(error, key, value))
  .end(done)
iterator.seek('b')
iterator.db.isOperational()
iterator.end(done)

const sized: ErrorSizeCallback = (error: Error | undefined, size: number) => console.log(error, size)
db.approximateSize('a', Buffer.from('b'), sized)
db.compactRange('a', 'b', done)
const property: string = db.getProperty('leveldb.stats')
const status: 'new' | 'opening' | 'open' | 'closing' | 'closed' = db.status
void [property, status, db.isOperational()]
leveldown.destroy('./db', done)
leveldown.repair('./db', done)

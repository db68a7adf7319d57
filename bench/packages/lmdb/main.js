// What LmdbLevel costs beside lmdb itself, with the same settings: `node bench/packages/lmdb/main.js [ROUNDS]`. Prints the least of the
// rounds, which take turns, in microseconds per operation. The puts wait for the disk of the temporary directory (TMPDIR).

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { LmdbLevel } from 'terrace-lmdb'
import { compare, entriesFor, times, timesSync } from '../../back-ends/beside.js'

const ROUNDS = Number(process.argv[2] ?? 5)
const KEYS = 1000
const READS = 50_000
const RANGES = 3000
const PUTS = 200

const directory = mkdtempSync(join(tmpdir(), 'terrace-lmdb-bench-'))
const db = new LmdbLevel(join(directory, 'level'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
await db.open()
const raw = open(join(directory, 'raw'), {
  keyEncoding: 'binary',
  encoding: 'binary',
  noSubdir: false,
  overlappingSync: false
})

const { value, keys, operations, keyAt } = entriesFor(KEYS)

const cases = {
  'put, awaited': {
    level: times(PUTS, (i) => db.put(keyAt(i), value)),
    raw: times(PUTS, (i) => raw.put(keyAt(i), value))
  },
  'put, 1,000 at once': {
    level: { count: KEYS, run: () => Promise.all(keys.map((key) => db.put(key, value))) },
    raw: { count: KEYS, run: () => Promise.all(keys.map((key) => raw.put(key, value))) }
  },
  'batch of 1,000, an operation': {
    level: { count: KEYS, run: () => db.batch(operations) },
    raw: {
      count: KEYS,
      run: () => raw.batch(() => operations.forEach(({ key, value }) => void raw.put(key, value)))
    }
  },
  'get, awaited': {
    level: times(READS, (i) => db.get(keyAt(i))),
    raw: times(READS, (i) => raw.get(keyAt(i)))
  },
  getSync: {
    level: timesSync(READS, (i) => db.getSync(keyAt(i))),
    raw: timesSync(READS, (i) => raw.get(keyAt(i)))
  },
  'range of 10': {
    level: times(RANGES, (i) => db.iterator({ gte: keyAt(i), limit: 10 }).all()),
    raw: times(RANGES, (i) => Array.from(raw.getRange({ start: keyAt(i), limit: 10 })))
  },
  'range of 10, iterateSync': {
    level: timesSync(RANGES, (i) => Array.from(db.iterateSync({ gte: keyAt(i), limit: 10 }))),
    raw: timesSync(RANGES, (i) => Array.from(raw.getRange({ start: keyAt(i), limit: 10 })))
  }
}

await db.batch(operations)
await raw.batch(() => operations.forEach(({ key, value }) => void raw.put(key, value)))
await compare(cases, { rounds: ROUNDS, names: ['LmdbLevel', 'lmdb'] })

await db.close()
await raw.close()
rmSync(directory, { recursive: true })

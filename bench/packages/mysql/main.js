// What MysqlLevel costs beside mysql2 with the same statements written by hand: `node bench/packages/mysql/main.js [ROUNDS]`. Starts a
// separate server, whose commits do not wait for the disk. Prints the least of the rounds, which take turns, in microseconds per operation.

import mysql from 'mysql2/promise'
import { MysqlLevel } from 'terrace-mysql'
import { startServer } from '../../../packages/back-ends/mysql/test/cluster/index.js'
import { UNSYNCED } from '../../../packages/back-ends/mysql/test/support/server.js'
import { compare, entriesFor, times } from '../../back-ends/beside.js'

const ROUNDS = Number(process.argv[2] ?? 5)
const KEYS = 1000
const READS = 2000
const RANGES = 500
const PUTS = 500

const server = await startServer({ args: UNSYNCED })
const db = new MysqlLevel(server.url, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
await db.open()
const raw = await mysql.createConnection({ uri: server.url, charset: 'BINARY', rowsAsArray: true })
await raw.query('CREATE TABLE raw (k VARBINARY(3072) PRIMARY KEY, v LONGBLOB NOT NULL)')

const { value, keys, operations, keyAt } = entriesFor(KEYS)
const INSERT = 'INSERT INTO raw VALUES'
const UPDATE = 'ON DUPLICATE KEY UPDATE v=VALUES(v)'

const rawBatch = () => raw.query(`${INSERT} ? ${UPDATE}`, [keys.map((key) => [key, value])])

const cases = {
  'put, awaited': {
    level: times(PUTS, (i) => db.put(keyAt(i), value)),
    raw: times(PUTS, (i) => raw.execute(`${INSERT} (?,?) ${UPDATE}`, [keyAt(i), value]))
  },
  'put, 1,000 at once': {
    level: { count: KEYS, run: () => Promise.all(keys.map((key) => db.put(key, value))) },
    raw: {
      count: KEYS,
      run: () => Promise.all(keys.map((key) => raw.execute(`${INSERT} (?,?) ${UPDATE}`, [key, value])))
    }
  },
  'batch of 1,000, an operation': {
    level: { count: KEYS, run: () => db.batch(operations) },
    raw: { count: KEYS, run: rawBatch }
  },
  'get, awaited (raw: binary protocol)': {
    level: times(READS, (i) => db.get(keyAt(i))),
    raw: times(READS, (i) => raw.execute('SELECT v FROM raw WHERE k=?', [keyAt(i)]))
  },
  'get, awaited (raw: text protocol)': {
    level: times(READS, (i) => db.get(keyAt(i))),
    raw: times(READS, (i) => raw.query('SELECT v FROM raw WHERE k=?', [keyAt(i)]))
  },
  'range of 10': {
    level: times(RANGES, (i) => db.iterator({ gte: keyAt(i), limit: 10 }).all()),
    raw: times(RANGES, (i) => raw.query('SELECT k,v FROM raw WHERE k>=? ORDER BY k LIMIT 10', [keyAt(i)]))
  },
  'scan of 1,000, per entry': {
    level: { count: KEYS, run: () => db.iterator().all() },
    raw: { count: KEYS, run: () => raw.query('SELECT k,v FROM raw ORDER BY k') }
  }
}

await db.batch(operations)
await rawBatch()
await compare(cases, { rounds: ROUNDS, names: ['MysqlLevel', 'mysql2'] })

await db.close()
await raw.end()
await server.stop()

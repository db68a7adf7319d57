// Does each operation many times over on a small database, and looks at what memory is left after each round.
//
//   node --expose-gc test/support/leaks.js [operations of each kind a round] [rounds]

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Level } from 'terrace'
import { memoryLeft } from '../../../../tests/support/memory-left.mjs'

/** Small, so that its own buffers do not hide what leaks. */
const OPTIONS = { writeBufferSize: 256 * 1024, cacheSize: 1024 * 1024, maxOpenFiles: 100 }
const KEYS = Array.from({ length: 1000 }, (_, i) => `key${String(i).padStart(6, '0')}`)
const VALUE = 'v'.repeat(100)
const BUFFERS = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' }

const keyAt = (i) => KEYS[(i * 7919) % KEYS.length]
const bytesAt = (i) => Buffer.from(keyAt(i))
const tenFrom = (i) => Array.from({ length: 10 }, (_, offset) => keyAt(i + offset))
const puts = (i) => tenFrom(i).map((key) => ({ type: 'put', key, value: VALUE }))

/** One call of each, for the number `i`; an operation that touches ten keys counts as ten. */
const KINDS = {
  put: (db, i) => db.put(keyAt(i), VALUE),
  'put of buffers': (db, i) => db.put(bytesAt(i), Buffer.from(VALUE), BUFFERS),
  'put refused': (db) => db.put('key', null).catch(() => {}),
  'put and del': (db, i) => Promise.all([db.put(`x${i % 100}`, VALUE), db.del(`x${i % 100}`)]),
  putSync: (db, i) => db.putSync(keyAt(i), VALUE),
  get: (db, i) => db.get(keyAt(i)),
  'get of buffers': (db, i) => db.get(bytesAt(i), BUFFERS),
  'get of views': (db, i) => db.get(bytesAt(i), VIEWS),
  'get of nothing': (db) => db.get('nothing'),
  getSync: (db, i) => db.getSync(keyAt(i)),
  has: (db, i) => db.has(keyAt(i)),
  'getMany, ten': (db, i) => db.getMany(tenFrom(i)),
  'getMany of buffers, ten': (db, i) => db.getMany(tenFrom(i), { valueEncoding: 'buffer' }),
  'hasMany, ten': (db, i) => db.hasMany(tenFrom(i)),
  'batch, ten': (db, i) => db.batch(puts(i)),
  'batchSync, ten': (db, i) => db.batchSync(puts(i)),
  'chained batch, ten': (db, i) => {
    const batch = db.batch()
    for (const key of tenFrom(i)) batch.put(key, VALUE)
    return batch.write()
  },
  'chained batch, closed': (db, i) => db.batch().put(keyAt(i), VALUE).close(),
  'sublevel, lost': (db, i) => db.sublevel('a').sublevel('s').put(keyAt(i), VALUE),
  sublevel: async (db, i) => {
    const sublevel = db.sublevel('s')
    await sublevel.open()
    await sublevel.put(keyAt(i), VALUE)
    await sublevel.close()
  },
  'clear, ten': (db) => db.clear({ gte: 'none', limit: 10 }),
  'for await, ten': async (db, i) => {
    for await (const _ of db.iterator({ gte: keyAt(i), limit: 10 }));
  },
  'for, ten': (db, i) => {
    for (const _ of db.iterateSync({ gte: keyAt(i), limit: 10 }));
  },
  'for await left': async (db, i) => {
    for await (const _ of db.iterator({ gte: keyAt(i), ...BUFFERS })) break
  },
  'all, ten': (db, i) => db.iterator({ gte: keyAt(i), limit: 10, reverse: true }).all(),
  'iterator not read': (db) => db.iterator().close(),
  'iterator aborted': async (db) => {
    const controller = new AbortController()
    const iterator = db.iterator({ signal: controller.signal })
    controller.abort()
    await iterator.next().catch(() => {})
    await iterator.close()
  },
  snapshot: async (db, i) => {
    const snapshot = db.snapshot()
    await db.get(keyAt(i), { snapshot })
    await snapshot.close()
  }
}

/** Expensive operations are done less often: they wait for the disk, or do ten times as much. */
const SHARE = { 'clear, ten': 0.02, 'iterator aborted': 0.1, snapshot: 0.2 }

async function round(db, operations) {
  for (const [name, call] of Object.entries(KINDS)) {
    const each = name.endsWith(', ten') ? operations / 10 : operations
    const count = Math.ceil(each * (SHARE[name] ?? 1))
    for (let i = 0; i < count; i++) await call(db, i)
  }
}

/**
 * The memory that is left after each of `rounds` rounds with `operations` of each kind.
 *
 * @returns {Promise<Array<{heapUsed: number, external: number, arrayBuffers: number, rss: number}>>} in bytes
 */
export async function measureLeaks(operations, rounds, report = () => {}) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-leaks-'))
  const db = new Level(directory, OPTIONS)
  const left = []

  try {
    await db.open()
    await db.batch(KEYS.map((key) => ({ type: 'put', key, value: VALUE })))

    for (let i = 0; i < rounds; i++) {
      await round(db, operations)
      left.push(await memoryLeft())
      report(i, left[i])
    }
  } finally {
    await db.close()
    rmSync(directory, { recursive: true, force: true })
  }

  return left
}

/** After so many rounds, memory stays as it is for dozens more: Node 26 takes its last 31 MB in the fourth. */
const SETTLING_ROUNDS = 4

/** How many bytes the minimum of the later half of rounds is above that of the earlier half, once it has settled. */
export function growth(left, kind) {
  const settled = left.slice(SETTLING_ROUNDS).map((memory) => memory[kind])
  const middle = settled.length >> 1
  return Math.min(...settled.slice(middle)) - Math.min(...settled.slice(0, middle))
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const operations = Number(process.argv[2] ?? 1_000_000)
  const rounds = Number(process.argv[3] ?? 7)
  const inMegabytes = (bytes) => (bytes / 1e6).toFixed(1)

  console.log(
    `${Object.keys(KINDS).length} kinds of operation, ${operations} of each a round; MB left after each round`
  )
  const left = await measureLeaks(operations, rounds, (index, memory) => {
    const parts = Object.entries(memory).map(([kind, bytes]) => `${kind} ${inMegabytes(bytes)}`)
    console.log(`round ${index + 1} of ${rounds}: ${parts.join(', ')}`)
  })

  const limits = { heapUsed: 2e6, external: 2e6, arrayBuffers: 2e6, rss: 24e6 }
  for (const [kind, limit] of Object.entries(limits)) {
    const grown = growth(left, kind)
    console.log(
      `${kind}: ${grown > 0 ? '+' : ''}${inMegabytes(grown)} MB${grown > limit ? ' — it leaks' : ''}`
    )
    if (grown > limit) process.exitCode = 1
  }
}

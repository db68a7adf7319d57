// Second part of the demo: a database of our own with a million entries.

import { createHash } from 'node:crypto'
import path from 'node:path'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { directorySize } from './directories.mjs'
import { check, heading, note, number, progress, row, size, timed } from './screen.mjs'

const ENTRIES = 1_000_000
const BATCH = 1000
const POINT_READS = 100_000
const SNAPSHOT_WRITES = 20_000
const VALUE_BYTES = 100

/** Keys of 16 bytes, in the order of their numbers. */
const key = (number) => `user:${String(number).padStart(11, '0')}`

/** 100 bytes that compress to about half. */
function value(number) {
  const start = `{"id":${number},"balance":${(number * 7919) % 100_000},"note":"`
  const random = ((BigInt(number + 1) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn).toString(36)
  return `${(start + random).padEnd(VALUE_BYTES - 2, '.')}"}`
}

/** Digest and number of all entries. */
async function digest(db) {
  const sha = createHash('sha256')
  let count = 0
  const iterator = db.iterator({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
  for (;;) {
    const entries = await iterator.nextv(BATCH)
    if (entries.length === 0) break
    for (const [key, value] of entries) {
      sha.update(`${key.length},${value.length}:`).update(key).update(value)
    }
    count += entries.length
  }
  await iterator.close()
  return { count, sha: sha.digest('hex') }
}

/** Runs the second part in `temporary`. Returns the rates, as [what, a second]. */
export async function showMillion(temporary) {
  const directory = path.join(temporary, 'million')
  const rates = []
  const rate = (label, count, seconds) => {
    rates.push([label, count / seconds])
    row(label, `${number(count)} in ${seconds.toFixed(2)} s, ${number(count / seconds)} a second`)
  }

  heading(`A database of ${number(ENTRIES)} entries`)
  note('Keys of 16 bytes, values of 100 bytes, in batches of 1,000.')
  let db = new Level(directory)
  const [, loading] = await timed(() => load(db))
  rate('loaded', ENTRIES, loading)
  const [, reading] = await timed(() => readPoints(db))
  rate('read at random', POINT_READS, reading)
  row('on disk', `${size(await directorySize(directory))} of ${size(ENTRIES * (16 + VALUE_BYTES))} put in`)

  heading('Ranges')
  await showRanges(db)
  heading('An atomic batch over two sublevels, with an index')
  await showSublevels(db)
  heading('A snapshot, read while others write')
  await showSnapshot(db)

  heading('Closed, opened again, and opened by LevelDB')
  await db.close()
  db = new Level(directory)
  const [, opening] = await timed(() => db.open())
  row('opened again in', `${(opening * 1000).toFixed(1)} ms`)
  const [ours, scanning] = await timed(() => digest(db))
  rate('scanned', ours.count, scanning)
  await db.close()
  const classic = new ClassicLevel(directory, { createIfMissing: false })
  const [theirs] = await timed(() => digest(classic))
  await classic.close()
  row('Terrace', ours.sha)
  row('classic-level', theirs.sha)
  check(
    theirs.count === ours.count && theirs.sha === ours.sha,
    `LevelDB 1.20 agrees on all ${number(ours.count)} entries`
  )
  row('on disk', size(await directorySize(directory)))
  return rates
}

async function load(db) {
  const show = progress('loading', ENTRIES)
  for (let start = 0; start < ENTRIES; start += BATCH) {
    const operations = []
    for (let id = start; id < start + BATCH; id++)
      operations.push({ type: 'put', key: key(id), value: value(id) })
    await db.batch(operations)
    show(start + BATCH)
  }
}

async function readPoints(db) {
  for (let n = 0; n < POINT_READS; n++) {
    const id = (n * 7_368_787) % ENTRIES
    if ((await db.get(key(id))) !== value(id)) throw new Error(`${key(id)} has another value`)
  }
}

async function showRanges(db) {
  const ranges = [
    ['the first three', { limit: 3 }],
    ['the last two, backwards', { reverse: true, limit: 2 }],
    ['two after user:500000', { gt: key(500_000), limit: 2 }]
  ]
  for (const [label, options] of ranges) row(label, (await db.keys(options).all()).join('  '))
  const [entries, seconds] = await timed(() => db.iterator({ gte: key(250_000), lt: key(260_000) }).all())
  const sum = entries.reduce((sum, [, value]) => sum + JSON.parse(value).balance, 0)
  row('balances of 10,000', `${number(sum)}, summed in ${(seconds * 1000).toFixed(0)} ms`)
  check(
    entries.length === 10_000 && entries[0][0] === key(250_000),
    'a range holds what lies in it, and nothing else'
  )
}

async function showSublevels(db) {
  const people = db.sublevel('people', { valueEncoding: 'json' })
  const cities = db.sublevel('cities', { valueEncoding: 'json' })
  const byCity = db.sublevel('people-by-city')
  people.hooks.prewrite.add((op, batch) => {
    const isPerson = op.sublevel === undefined || op.sublevel === null || op.sublevel === people
    if (op.type === 'put' && isPerson) {
      batch.add({ type: 'put', key: `${op.value.city}/${op.key}`, value: op.key, sublevel: byCity })
    }
  })
  await people.batch([
    { type: 'put', key: 'ada', value: { name: 'Ada', city: 'London' } },
    { type: 'put', key: 'emmy', value: { name: 'Emmy', city: 'Erlangen' } },
    { type: 'put', key: 'mary', value: { name: 'Mary', city: 'London' } },
    { type: 'put', key: 'London', value: { country: 'England' }, sublevel: cities }
  ])
  const inLondon = await byCity.values({ gte: 'London/', lt: 'London0' }).all()
  row('people', (await people.keys().all()).join(', '))
  row('cities', (await cities.keys().all()).join(', '))
  row('people-by-city', (await byCity.keys().all()).join(', '))
  check(
    inLondon.join() === 'ada,mary',
    `the index, kept by a hook in the same atomic batch, finds ${inLondon.join(' and ')} in London`
  )
}

async function showSnapshot(db) {
  const snapshot = db.snapshot()
  const range = { gte: key(0), lt: key(SNAPSHOT_WRITES) }
  const before = db.values({ ...range, snapshot }).all()
  const writes = []
  for (let id = 0; id < SNAPSHOT_WRITES; id++) writes.push(db.put(key(id), 'overwritten'))
  const [old] = await Promise.all([before, ...writes])
  const oldAgain = await db.values({ ...range, snapshot }).all()
  const now = await db.values(range).all()
  await snapshot.close()
  const unchanged = (values) =>
    values.length === SNAPSHOT_WRITES && values.every((found, id) => found === value(id))
  check(unchanged(old), `read while ${number(SNAPSHOT_WRITES)} entries were overwritten: none of it is seen`)
  check(unchanged(oldAgain), 'read again afterwards: the same')
  check(
    now.every((found) => found === 'overwritten'),
    'without the snapshot: all of it is seen'
  )
}

// Two kinds of entries, in two sublevels of one database or in two databases: what each way costs.
//
//   node bench/design/one-or-many.js [-n ENTRIES] [--rounds ROUNDS] [--only pairs|churn|cache]

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Level } from 'terrace'
import {
  fileBytes,
  inBatches,
  inTurns,
  milliseconds,
  printMachine,
  printTable,
  processorMilliseconds,
  randomNumbers,
  settings,
  valueNumber
} from './measure.js'

const { n, rounds, only } = settings(200_000)
const PAIRS = 500
const HOT = 10_000
/** So many entries do not fit into the memory for recent writes. */
const CHURNED = n / 2
const CACHE_BYTES = 4 << 20
const values = Array.from({ length: 10_000 }, (_, i) => valueNumber(i))
const keyOf = (i) => String(i).padStart(12, '0')
const put = (i) => ({ type: 'put', key: keyOf(i), value: values[i % values.length] })

/** A way to keep two kinds: `kinds` are their databases or sublevels, `databases` what is opened and closed. */
async function oneDatabase(directory, options) {
  const db = new Level(join(directory, 'db'), options)
  await db.open()
  const kinds = [db.sublevel('a'), db.sublevel('b')]
  const writeBoth = (operation, options) =>
    db.batch(
      kinds.map((sublevel) => ({ ...operation, sublevel })),
      options
    )
  return { kinds, databases: [db], writeBoth, remove: (kind) => kinds[kind].clear() }
}

async function twoDatabases(directory, options) {
  const databases = ['a', 'b'].map((name) => new Level(join(directory, name), options))
  await Promise.all(databases.map((db) => db.open()))
  const writeBoth = (operation, options) => Promise.all(databases.map((db) => db.batch([operation], options)))
  const remove = async (kind) => {
    await databases[kind].close()
    await Level.destroy(databases[kind].location)
  }
  return { kinds: databases, databases, writeBoth, remove }
}

const WAYS = {
  'two sublevels of one database': oneDatabase,
  'two databases': twoDatabases,
  'two databases with `sharedResources`': (directory, options) =>
    twoDatabases(directory, { ...options, sharedResources: true })
}

const writtenBytes = (databases) =>
  databases.flatMap((db) => db.stats().levels).reduce((sum, { writtenBytes }) => sum + writtenBytes, 0)

/** One entry of each kind, written together and synced. */
async function measurePairs(directory, open) {
  const { databases, writeBoth } = await open(directory)
  const time = await milliseconds(async () => {
    for (let i = 0; i < PAIRS; i++) await writeBoth(put(i), { sync: true })
  })
  await Promise.all(databases.map((db) => db.close()))
  return { 'a pair, synced, µs, wall time': (time * 1000) / PAIRS }
}

/** One kind is large and rests, the other is smaller and written over and over. In the end the large one is removed. */
async function measureChurn(directory, open) {
  const { kinds, databases, remove } = await open(directory)
  const [cold, hot] = kinds
  await inBatches(n, (indices) => cold.batch(indices.map(put)))
  await Promise.all(databases.map((db) => db.compactRange('', '\uffff')))
  const before = writtenBytes(databases)
  const random = randomNumbers(3)
  const churn = await processorMilliseconds(() =>
    inBatches(5 * n, (indices) => hot.batch(indices.map(() => put(random(CHURNED)))))
  )
  const get = await processorMilliseconds(async () => {
    for (let i = 0; i < 50_000; i++)
      if ((await cold.get(keyOf(random(n)))) === undefined) throw new Error('gone')
  })
  const written = writtenBytes(databases) - before
  const size = fileBytes(directory)
  const removal = await processorMilliseconds(() => remove(0))
  const sizeAfter = fileBytes(directory)
  await setTimeout(5000)
  const sizeLater = fileBytes(directory)
  await Promise.all(databases.map((db) => db.close()))
  return {
    'overwriting, µs per entry': (churn * 1000) / (5 * n),
    'flushes and compactions wrote, MB': written / 1e6,
    'get of the idle kind, µs': (get * 1000) / 50_000,
    'files, MB': size / 1e6,
    'removing the large kind, ms': removal,
    'files right after that, MB': sizeAfter / 1e6,
    'files 5 s later, MB': sizeLater / 1e6
  }
}

/** Gets of a few keys of one kind, among gets of all keys of the other. Values compress, so blocks go through the cache. */
async function measureCache(directory, open) {
  const { kinds, databases } = await open(directory, { cacheSize: CACHE_BYTES })
  const [large, small] = kinds
  const value = (i) => values[i % values.length].slice(0, 50).repeat(2)
  const putSmaller = (i) => ({ type: 'put', key: keyOf(i), value: value(i) })
  await inBatches(n, (indices) => large.batch(indices.map(putSmaller)))
  await inBatches(HOT, (indices) => small.batch(indices.map(putSmaller)))
  await Promise.all(databases.map((db) => db.compactRange('', '\uffff')))
  const random = randomNumbers(5)
  let time = 0
  const gets = 50_000
  for (let i = 0; i < gets; i += 500) {
    for (let k = 0; k < 500; k++) await large.get(keyOf(random(n)))
    time += await processorMilliseconds(async () => {
      for (let k = 0; k < 500; k++)
        if ((await small.get(keyOf(random(HOT)))) === undefined) throw new Error('gone')
    })
  }
  await Promise.all(databases.map((db) => db.close()))
  return { 'get of the small kind, µs': (time * 1000) / gets }
}

const ways = (measure) =>
  Object.fromEntries(
    Object.entries(WAYS).map(([name, open]) => [name, (directory) => measure(directory, open)])
  )

const inWords = (number) => number.toLocaleString('en')

/** Prints a table between the markers that `scripts/embed.mjs` looks for. */
async function printPart(name, what, measure) {
  if (only !== undefined && only !== name) return
  const results = await inTurns(rounds, ways(measure))
  console.log(`<!-- ${name} -->\n`)
  printTable(what, results)
  console.log(`\n<!-- /${name} -->\n`)
}

const many = `${inWords(n)} entries`
const few = `${inWords(HOT)} others`
await printPart('pairs', 'one entry of each of two kinds', measurePairs)
await printPart(
  'churn',
  `${many} that rest, ${inWords(5 * n)} writes to ${inWords(CHURNED)} others`,
  measureChurn
)
await printPart('cache', `${many} and ${few}, \`cacheSize\` of ${CACHE_BYTES >> 20} MiB`, measureCache)
console.log('<!-- machine -->\n')
printMachine(rounds)
console.log('\n<!-- /machine -->')

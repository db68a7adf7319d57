// What the length of keys costs: bytes on the disk, µs per put and a get.
//
//   node bench/design/key-length.js [-n ENTRIES] [--rounds ROUNDS]

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Level } from 'terrace'
import {
  fileBytes,
  inBatches,
  inTurns,
  printMachine,
  printTable,
  processorMilliseconds,
  randomNumbers,
  settings,
  valueNumber
} from './measure.js'

const { n, rounds } = settings(200_000)
const GETS = 50_000
const values = Array.from({ length: n }, (_, i) => valueNumber(i))

const number = (i) => String(i).padStart(16, '0')
const hash = (i, length) =>
  createHash('shake128', { outputLength: length / 2 })
    .update(number(i))
    .digest('hex')

/** By name: from an index to a key. */
const KEYS = {
  '16 bytes': number,
  '64 bytes, 48 of them a shared prefix': (i) => 'x'.repeat(48) + number(i),
  '256 bytes, 240 of them a shared prefix': (i) => 'x'.repeat(240) + number(i),
  '64 bytes, random': (i) => hash(i, 64),
  '256 bytes, random': (i) => hash(i, 256)
}

async function measure(directory, keyOf) {
  const keys = Array.from({ length: n }, (_, i) => keyOf(i))
  const db = new Level(join(directory, 'db'))
  const put = await processorMilliseconds(() =>
    inBatches(n, (indices) => db.batch(indices.map((i) => ({ type: 'put', key: keys[i], value: values[i] }))))
  )
  await db.compactRange('', '\uffff')
  const random = randomNumbers(7)
  const get = await processorMilliseconds(async () => {
    for (let i = 0; i < GETS; i++)
      if ((await db.get(keys[random(n)])) === undefined) throw new Error('an entry is gone')
  })
  const scan = await processorMilliseconds(async () => {
    let count = 0
    for await (const key of db.keys()) count += key === '' ? 0 : 1
    if (count !== n) throw new Error('the scan has other entries')
  })
  await db.close()
  return {
    'bytes per entry on disk': fileBytes(directory) / n,
    'batch of 1,000, µs per entry': (put * 1000) / n,
    'get, random key, µs': (get * 1000) / GETS,
    'scan, µs per key': (scan * 1000) / n
  }
}

const results = await inTurns(
  rounds,
  Object.fromEntries(
    Object.entries(KEYS).map(([name, keyOf]) => [name, (directory) => measure(directory, keyOf)])
  )
)
printTable(`${n.toLocaleString('en')} values of 100 bytes, keys of`, results)
console.log()
printMachine(rounds)

// Fills databases with entries that do not compress, reads everything, and reports it. A shell that limits descriptors starts
// it.
//
// Arguments: a JSON object with directories, megabytes and the options of Level.

import assert from 'node:assert/strict'
import { Level } from 'terrace'

const VALUE_SIZE = 5000
const BATCH = 200

const { directories, megabytes, options } = JSON.parse(process.argv[2])
const count = Math.round((megabytes * 1e6) / VALUE_SIZE)

/** Scattered keys, so that tables overlap and compactions have work. */
const keyOf = (number) => `${(Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-${number}`

/** Bytes that depend only on the number, and look random. */
function valueNumber(number) {
  const value = new Uint32Array(VALUE_SIZE / 4)
  let state = number + 1
  for (let i = 0; i < value.length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    value[i] = state
  }
  return new Uint8Array(value.buffer)
}

async function open() {
  const databases = directories.map(
    (directory) => new Level(directory, { valueEncoding: 'view', ...options })
  )
  await Promise.all(databases.map((db) => db.open()))
  return databases
}

const databaseOf = (databases, number) => databases[Math.floor(number / BATCH) % databases.length]

async function check(databases) {
  for (let number = 0; number < count; number += 13) {
    const found = await databaseOf(databases, number).get(keyOf(number))
    assert.deepEqual(new Uint8Array(found), valueNumber(number), `entry ${number}`)
  }
  let found = 0
  for (const db of databases) for await (const _ of db.keys()) found++
  assert.equal(found, count)
}

let databases = await open()
for (let first = 0; first < count; first += BATCH) {
  const operations = []
  for (let number = first; number < Math.min(first + BATCH, count); number++) {
    operations.push({ type: 'put', key: keyOf(number), value: valueNumber(number) })
  }
  await databaseOf(databases, first).batch(operations)
}
await check(databases)
for (const db of databases) await db.compactRange('', '~')
await Promise.all(databases.map((db) => db.close()))
databases = await open()
await check(databases)
await Promise.all(databases.map((db) => db.close()))
console.log('filled and read')

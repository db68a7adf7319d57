// Measures one case on one database, in a separate process: `node hooks-child.js DATABASE CASE PUTS`. Prints the
// microseconds per operation. It fails if a function or a listener was not called for each, or an entry is missing.

import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { CASES, DATABASES, remove } from './hooks-cases.js'

const [database, name, puts] = process.argv.slice(2)
const {
  functions = 0,
  functionsEach = 0,
  sublevels = 0,
  listeners = 0,
  adds = false,
  isGet = false
} = CASES[name]
const count = Number(puts)

// Sixteen characters, in an order that is neither sorted nor random.
const keys = Array.from({ length: count }, (_, i) => `key${String((i * 7919) % count).padStart(13, '0')}`)
const value = 'v'.repeat(100)

const db = DATABASES[database]()
await db.open()
const spaces = [db]
for (let depth = 0; depth < sublevels; depth++) spaces.push(spaces[depth].sublevel(`level${depth}`))
const space = spaces[sublevels]
await space.open()

let calls = 0

function addFunctions(hook, count) {
  for (let i = 0; i < count; i++) {
    hook.add(() => {
      calls++
    })
  }
}

addFunctions(db.hooks.prewrite, functions)
for (const each of spaces) addFunctions(each.hooks.prewrite, functionsEach)
for (let i = 0; i < listeners; i++) {
  db.on('write', (operations) => {
    calls += operations.length
  })
}
if (adds) {
  db.hooks.prewrite.add((operation, batch) => {
    calls++
    batch.add({ type: 'put', key: 'added', value: operation.key })
  })
}

async function putAll() {
  for (const key of keys) await space.put(key, value)
}

async function getAll() {
  for (const key of keys) assert.equal(await space.get(key), value)
}

// The engine compiles during the first pass.
await putAll()
if (isGet) await getAll()

const start = performance.now()
await (isGet ? getAll() : putAll())
const micros = ((performance.now() - start) * 1000) / count

assert.equal(calls, 2 * count * (functions + functionsEach * spaces.length + listeners + (adds ? 1 : 0)))
assert.equal((await db.keys().all()).length, count + (adds ? 1 : 0))
assert.equal(await space.get(keys[count >> 1]), value)
await remove(db)
console.log(micros)

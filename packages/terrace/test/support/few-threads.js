// Opens many databases that share their threads, writes, and closes them when no further thread can be started. Prints what it
// saw.
//
// Arguments: a directory, the number of databases, and the file that limits the threads of this process from then on; without
// it, the limit on the threads of this user applies.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Level } from 'terrace'

const [directory, count, limitFile] = process.argv.slice(2)
const threads = () => readdirSync('/proc/self/task').length

const before = threads()
const open = () =>
  Promise.all(
    Array.from({ length: Number(count) }, async (_, i) => {
      const db = new Level(join(directory, `db${i}`), { sharedResources: true })
      await db.open()
      await db.put('a', String(i), { sync: true })
      return db
    })
  )
const databases = await open()
await Promise.all(databases.map((db) => db.clear({ gte: 'b' })))
const added = threads() - before

if (limitFile === undefined) execFileSync('prlimit', ['--pid', String(process.pid), '--nproc=1:1'])
else writeFileSync(limitFile, '1')

const refused = await new Promise((resolve) => {
  try {
    new Worker('', { eval: true }).once('error', () => resolve(true)).once('exit', () => resolve(false))
  } catch {
    resolve(true)
  }
})
assert.ok(refused, 'the limit holds')

await Promise.all(databases.map((db, i) => db.put('b', String(i), { sync: i % 2 === 0 })))
await Promise.all(databases.map((db) => db.close()))
console.log(JSON.stringify({ added }))

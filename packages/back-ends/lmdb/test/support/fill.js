// A process that writes until the operating system refuses, and prints what it finds then. Its parent limits the size of its
// files, which stands for a full disk.
//
//   fill.js LOCATION [if]
//
// With `if`, each write has a condition.

import { LmdbLevel } from 'terrace-lmdb'

const db = new LmdbLevel(process.argv[2])
await db.open()
const options = process.argv[3] === 'if' ? { if: [{ key: 'none', exists: false }] } : {}
const value = 'x'.repeat(20_000)
let written = 0
let failure

while (failure === undefined && written < 1000) {
  const batch = [`a${written}`, `b${written}`].map((key) => ({ type: 'put', key, value }))
  await db.batch(batch, options).then(
    () => written++,
    (error) => {
      failure = error
    }
  )
}

const keys = await db.keys().all()
// A smaller write still finds room.
await db.put('small', 'value', options)
const small = await db.get('small')
const { code, cause, path } = failure ?? {}
console.log(JSON.stringify({ written, code, cause: cause?.code, path, keys, small }))
await db.close()

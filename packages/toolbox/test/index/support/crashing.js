// A process that is to be killed: it declares two indexes and writes without end.
//
// node crashing.js <terrace|classic-level> <directory> <write|build> <lines until it is killed>

import { writeSync } from 'node:fs'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { index } from 'terrace-toolbox/index'

const [name, directory, what, lines] = process.argv.slice(2)
const db = name === 'terrace' ? new Level(directory) : new ClassicLevel(directory)
const users = db.sublevel('users', { valueEncoding: 'json' })
let told = 0
const progress = ({ records }) => {
  writeSync(1, `${records}\n`)
  // The killer waits for so many lines.
  if (++told === Number(lines)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
index(users, {
  name: 'email',
  on: 'email',
  unique: true,
  onProgress: what === 'build' ? progress : undefined
})
index(users, { name: 'group', on: 'group' })

const begin = Date.now()
for (let i = 0; ; i++) {
  const key = `k${(begin + i * 7919) % 5000}`
  const value = { email: `${begin}-${i}`, group: i % 10 }
  if (i % 5 === 0) await users.del(key)
  else if (i % 5 === 1) await users.batch([{ type: 'del', key }, ...many(i)])
  else await users.put(key, value)
  if (what === 'write' && i % 100 === 99) process.stdout.write(`${i}\n`)
}

function many(i) {
  return Array.from({ length: 20 }, (_, j) => ({
    type: 'put',
    key: `batch${(i + j) % 2000}`,
    value: { email: `${begin}-${i}-${j}`, group: j }
  }))
}

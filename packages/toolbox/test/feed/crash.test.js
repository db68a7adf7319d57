// Processes killed while they write: the feed, the counts and the data that are left belong together.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { count, feed } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { all } from '../support/collect.js'
import { directory } from '../support/databases.js'
import { next, replayed } from './support.js'

const writer = fileURLToPath(new URL('writer.js', import.meta.url))
const ROUNDS = scaled(4, 2)

/** Lets a process write, and kills it after some writes. Returns how many it reported as done. */
async function killedWriter(kind, path, seed) {
  const child = spawn(process.execPath, [writer, kind, path, `${seed}`], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let acknowledged = 0
  child.stdout.on('data', (chunk) => {
    acknowledged = Number(chunk.toString().trim().split('\n').at(-1))
    if (acknowledged > 150 * seed) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL')
  return acknowledged
}

for (const [kind, Database] of [
  ['terrace', Level],
  ['classic-level', ClassicLevel]
]) {
  test(`${kind}: after a kill the feed is what the data is, and the counts are`, async (t) => {
    const path = join(directory(t), 'db')
    const consumed = new Map()
    let position = 0
    let longest = 0

    for (let seed = 1; seed <= ROUNDS; seed++) {
      const acknowledged = await killedWriter(kind, path, seed)
      const db = new Database(path)
      const data = db.sublevel('data')
      const changes = feed(data)
      const short = feed(data, { name: 'short', retention: { count: 200 } })
      const kinds = count(data, { name: 'kinds', of: (_, value) => value[0] })
      await db.open()
      await data.open()

      const entries = await data.iterator().all()
      assert.deepEqual(await replayed(changes), entries)
      // A consumer that resumes where it was arrives at the same state.
      for await (const { sequence, type, key, value } of changes.read({ after: position })) {
        if (type === 'put') consumed.set(key, value)
        else consumed.delete(key)
        position = sequence
      }
      assert.deepEqual([...consumed].sort(), entries)
      assert.ok(position >= longest + acknowledged, `${position} changes, ${acknowledged} writes`)
      longest = position

      await short.trim()
      const last = (await all(short.read())).map(({ sequence, key }) => [sequence, key])
      assert.ok(last.length >= 150)
      const sameKeys = await all(changes.read({ after: position - last.length }))
      assert.deepEqual(
        last.map(([, key]) => key),
        sameKeys.map(({ key }) => key)
      )
      assert.deepEqual(await kinds.verify(), [])

      await data.put('after', 'x')
      assert.equal((await next(changes.read({ after: position }))).key, 'after')
      await db.close()
    }
  })
}

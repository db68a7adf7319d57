import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { index } from 'terrace-toolbox/index'
import { isShort, scaled } from '../../../../tests/support/form.mjs'
import { directory, isExact } from '../support/databases.js'
import { inStep } from './support/indexes.js'

const script = fileURLToPath(new URL('support/crashing.js', import.meta.url))

/** How many records a build begins with: for many more steps than it makes until it is killed. */
const RECORDS = scaled(8000, 3000)

/** After how many hundreds of writes a process is killed. */
const KILLED_AFTER = isShort ? [1, 3] : [1, 6]

/** Runs the script until it has printed this many lines, and kills it. Returns what it printed. */
async function killed(name, path, what, lines) {
  const child = spawn(process.execPath, [script, name, path, what, String(lines)], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exit = once(child, 'exit')
  let output = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text
    if (output.split('\n').length > lines) child.kill('SIGKILL')
  }
  assert.deepEqual(await exit, [null, 'SIGKILL'])
  return output.split('\n').slice(0, -1).map(Number)
}

for (const [name, Database] of Object.entries({ terrace: Level, 'classic-level': ClassicLevel })) {
  /** Opens the database, waits for its indexes and checks them. */
  const check = async (path, onProgress) => {
    const db = new Database(path)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const byEmail = index(users, { name: 'email', on: 'email', unique: true, onProgress })
    const byGroup = index(users, { name: 'group', on: 'group' })
    try {
      for (const { ready } of [byEmail, byGroup]) await ready
      const records = (await users.keys().all()).length
      for (const made of [byEmail, byGroup]) {
        const { stale, ...report } = await made.verify()
        // On other databases, building while others write may leave stale entries.
        if (isExact(db)) assert.equal(stale, 0)
        assert.deepEqual({ ...report, stale: 0 }, { ...inStep(records), entries: records + stale })
        if (stale > 0) await made.rebuild()
        assert.deepEqual(await made.verify(), inStep(records))
      }
      return records
    } finally {
      await db.close()
    }
  }

  test(`${name}: a process killed amid writes leaves its indexes in step`, async (t) => {
    const path = join(directory(t), 'db')
    for (const lines of KILLED_AFTER) {
      await killed(name, path, 'write', lines)
      assert.ok((await check(path)) > 100)
    }
  })

  test(`${name}: a build resumes where its process was killed, with writes going on`, async (t) => {
    const path = join(directory(t), 'db')
    const db = new Database(path)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const operations = Array.from({ length: RECORDS }, (_, i) => ({
      type: 'put',
      key: `old${i}`,
      value: { email: `old ${i}`, group: i % 10 }
    }))
    await users.batch(operations)
    await db.close()

    const first = await killed(name, path, 'build', 2)
    const second = await killed(name, path, 'build', 2)
    assert.ok(second[0] > first[0] && first.at(-1) < RECORDS, `${first}; ${second}`)
    const progress = []
    assert.ok((await check(path, ({ records }) => progress.push(records))) >= RECORDS)
    assert.ok(progress[0] > second[0])
  })
}

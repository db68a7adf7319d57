// Copies whose process is killed at random moments, and that are completed later.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { copy } from 'terrace-toolbox/copy'
import { scaled } from '../../../../tests/support/form.mjs'
import { directory } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'

const script = fileURLToPath(new URL('copier.js', import.meta.url))
const COUNT = scaled(30_000, 15_000)
const KILLS = scaled(8, 3)
/**
 * Each copy is killed before it has written this many batches. In the short form, these are so few that each copy resumes the
 * previous one.
 */
const BATCHES = scaled(1000, 250)

const key = (number) => `key ${String(number).padStart(6, '0')}`
const put = (number, value) => ({ type: 'put', key: key(number), value })

/** Starts a copy, and kills it once it has written this many batches. Returns whether it was killed before it ended. */
async function isKilled(name, from, to, batches) {
  const child = spawn(process.execPath, [script, name, from, to, String(batches)], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  child.stdout.once('data', () => child.kill('SIGKILL'))
  const [code] = await once(child, 'exit')
  assert.ok(code === null || code === 0, `${code}`)
  return code === null
}

/** Changes the source after a copy: one entry less, a new one, and a changed one. */
async function change(path, pick) {
  const db = new Level(path)
  await db.batch([
    { type: 'del', key: key(pick(COUNT)) },
    put(COUNT + pick(1000), 'new'),
    { type: 'put', key: `${key(pick(COUNT))} and more`, value: 'between' },
    put(pick(COUNT), 'changed')
  ])
  await db.close()
}

for (const [name, Database] of Object.entries({ terrace: Level, 'classic-level': ClassicLevel })) {
  test(`to ${name}: a copy killed again and again, its source changed in between, ends as the source`, async (t) => {
    const within = directory(t)
    const [from, to] = [join(within, 'from'), join(within, 'to')]
    const source = new Level(from)
    for (let first = 0; first < COUNT; first += 1000) {
      await source.batch(
        Array.from({ length: 1000 }, (_, index) => put(first + index, 'x'.repeat((first + index) % 90)))
      )
    }
    await source.close()

    const pick = randomNumbers(7)
    let killed = 0
    for (let round = 0; round < KILLS; round++) {
      if (await isKilled(name, from, to, 1 + pick(BATCHES))) {
        killed++
        if (round % 2 === 1) await change(from, pick)
      } else {
        const whole = new Database(to)
        await whole.clear()
        await whole.close()
      }
    }
    assert.ok(killed >= KILLS / 2, `${killed} of ${KILLS} were killed before they ended`)

    const target = new Database(to)
    await source.open()
    // The last kill may have been too late to interrupt the copy.
    const { resumed, written } = await copy(source, target, { existing: 'overwrite' })
    t.diagnostic(`${killed} kills; the last copy wrote ${written}, resumed: ${resumed}`)
    assert.deepEqual(await target.iterator().all(), await source.iterator().all())
    for (const db of [source, target]) await db.close()
  })
}

// The program killed at random instants, and run again.
//
// In the full form only: it kills at real instants, until enough copies were killed before their end.

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Level } from 'terrace'
import { LmdbLevel } from 'terrace-lmdb'
import { directory } from './support/directory.js'
import { all, fill, numbered } from './support/entries.js'
import { run, start } from './support/program.js'

const COUNT = 20_000
const KILLS = 5
const MOST_TRIALS = 60

/** How a copy ended: killed, to its end, or refused by a target that is whole because the kill before came after the end. */
const endings = { SIGKILL: 'killed', 0: 'finished', 3: 'whole already' }

/** Starts a copy, and kills it some time after its target has appeared, unless it has ended before. */
async function killed(t, args, target, afterMs) {
  const { child, closed, output } = start(t, args)
  while (!existsSync(target) && child.exitCode === null) await sleep(1)
  await sleep(afterMs)
  child.kill('SIGKILL')
  const code = await closed
  const ending = endings[code]
  assert.ok(ending !== undefined, `${code}: ${output.err}`)
  if (ending === 'whole already') assert.match(output.err, /TO has entries/)
  return ending
}

/** Makes a source differ from what was copied of it. */
async function change(db, round) {
  await db.batch([
    { type: 'del', key: `key ${String(round * 37).padStart(7, '0')}` },
    { type: 'put', key: `key ${String(round * 51).padStart(7, '0')}`, value: 'changed' },
    { type: 'put', key: `key ${String(round * 3001).padStart(7, '0')} and more`, value: 'new' }
  ])
}

async function entriesIn(Database, path) {
  const db = new Database(path)
  const entries = await all(db)
  await db.close()
  return entries
}

for (const [From, scheme, To] of [
  [Level, 'lmdb', LmdbLevel],
  [LmdbLevel, 'level', Level],
  [Level, 'level', Level]
]) {
  test(`from ${From.name} to ${To.name}: killed, its source changed, run again: the target equals the source`, async (t) => {
    const [source, target] = [join(directory(t), 'from'), join(directory(t), 'to')]
    const from = new From(source)
    t.after(() => from.close())
    await fill(from, numbered(COUNT))
    const place = From === LmdbLevel ? `lmdb:${source}` : source
    const args = [place, `${scheme}:${target}`, '--batch-size', '4', '--json']

    let kills = 0
    // What a copy that ended can have left in the target.
    let states = [await all(from)]
    const assertWhole = async () => {
      const found = await entriesIn(To, target)
      assert.ok(
        states.some((state) => isDeepStrictEqual(state, found)),
        'the target has not been the source'
      )
    }
    for (let trial = 0; kills < KILLS; trial++) {
      assert.ok(trial < MOST_TRIALS, `only ${kills} of ${trial} copies were killed before they ended`)
      const ending = await killed(t, args, target, Math.random() * 500)
      if (ending === 'killed') {
        kills++
        if (kills % 2 === 0) {
          await change(from, kills)
          states.push(await all(from))
        }
        continue
      }
      if (ending === 'whole already') await assertWhole()
      rmSync(target, { recursive: true })
      states = states.slice(-1)
    }

    // The last kill, too, may have come after the end.
    const { code, out, err } = await run(t, args)
    t.diagnostic(out.trim())
    if (endings[code] === 'finished') states = states.slice(-1)
    else assert.match(err, /TO has entries/)
    await assertWhole()
  })
}

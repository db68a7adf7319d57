// Writers that open a database one after another. Each fences the previous one.

import assert from 'node:assert/strict'
import { until } from '../../../../../tests/support/waiting.mjs'
import { newLevel, pause } from './databases.js'

/**
 * Lets writers take turns: each opens the database, writes, and is fenced by the next. Counts acknowledged writes that
 * are missing.
 */
export async function takeTurns(t, location, options, turns) {
  const counts = { turns, acknowledged: 0, fenced: 0, missing: 0, other: [] }
  const acknowledged = new Map()
  const running = []
  for (let turn = 0; turn < turns; turn++) {
    const db = newLevel(t, { ...options, pollIntervalMs: 100 }, location)
    await db.open()
    const before = acknowledged.size
    running.push(
      (async () => {
        for (let number = 0; ; number++) {
          const key = `${turn}-${number}`
          try {
            await (number % 3 === 0
              ? db.batch([
                  { type: 'put', key, value: key },
                  { type: 'put', key: 'newest', value: key }
                ])
              : db.put(key, key))
          } catch (error) {
            if (error.code === 'LEVEL_FENCED') counts.fenced++
            else counts.other.push(error.code)
            await db.close()
            return
          }
          acknowledged.set(key, turn)
        }
      })()
    )
    // Some of its writes are acknowledged, and others are in progress, when the next writer opens.
    await until(() => acknowledged.size > before + 1)
    await pause(Math.random() * 150)
  }
  const last = newLevel(t, options, location)
  await last.open()
  await Promise.all(running)
  for (const key of acknowledged.keys()) if ((await last.get(key)) !== key) counts.missing++
  counts.acknowledged = acknowledged.size
  t.diagnostic(JSON.stringify(counts))
  return counts
}

export function assertNoneLost({ turns, acknowledged, fenced, missing: lost, other }) {
  assert.ok(acknowledged > turns)
  assert.deepEqual(other, [])
  assert.equal(fenced, turns)
  assert.equal(lost, 0)
}

// A process that is killed while it writes leaves no entry without its expiry, and no expiry without its entry for good.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { ttl } from 'terrace-toolbox/ttl'
import { isShort } from '../../../../tests/support/form.mjs'
import { stoppedClock } from '../support/clock.js'
import { directory } from '../support/databases.js'

const writer = fileURLToPath(new URL('../support/ttl-writer.js', import.meta.url))

/** Lets a process write until it has reported `count` rounds, and kills it in the middle of its work. */
async function killedWriter(name, path, count) {
  const child = spawn(process.execPath, [writer, name, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.on('close', (_code, signal) => resolve(signal)))
  let rounds = 0
  child.stdout.on('data', (data) => {
    rounds += data.length
    if (rounds >= count) child.kill('SIGKILL')
  })
  assert.equal(await ended, 'SIGKILL')
}

for (const Database of [Level, ClassicLevel]) {
  test(`${Database.name}: expiry survives a killed process`, async (t) => {
    const path = join(directory(t), 'db')
    for (const rounds of isShort ? [1, 30] : [1, 20, 60]) {
      await killedWriter(Database.name, path, rounds)
      const db = new Database(path)
      const clock = stoppedClock()
      const sessions = ttl(db.sublevel('sessions'), { checkIntervalMs: Infinity, now: clock.now })
      try {
        const before = await sessions.keys().all()
        assert.ok(before.length > 0)
        for (const key of before) {
          assert.equal((await sessions.expiresAt(key)) === Infinity, key.startsWith('stays'))
        }
        clock.time += 10_000
        await sessions.removeExpired()
        const left = await db.keys().all()
        assert.ok(left.every((key) => key.startsWith('!sessions!stays')))
      } finally {
        await db.close()
      }
    }
  })

  test(`${Database.name}: expiry survives closing and opening again`, async (t) => {
    const path = join(directory(t), 'db')
    const clock = stoppedClock()
    const options = { checkIntervalMs: Infinity, now: clock.now }
    const first = new Database(path)
    await ttl(first.sublevel('sessions'), options).put('a', '1', { ttlMs: 100 })
    await first.close()

    const db = new Database(path)
    try {
      const sessions = ttl(db.sublevel('sessions'), options)
      clock.time += 99
      assert.equal(await sessions.get('a'), '1')
      clock.time += 1
      assert.equal(await sessions.get('a'), undefined)
      assert.equal(await sessions.removeExpired(), 1)
      assert.deepEqual(await db.keys().all(), [])
    } finally {
      await db.close()
    }
  })

  test(`${Database.name}: the view opens again with its database`, async (t) => {
    const db = new Database(join(directory(t), 'db'))
    try {
      const entries = db.sublevel('sessions')
      const sessions = ttl(entries, { checkIntervalMs: Infinity })
      await sessions.put('a', '1', { ttlMs: 100_000 })
      await db.close()
      assert.equal(sessions.status, 'closed')
      await db.open()
      await entries.open()
      await sessions.open()
      assert.equal(await sessions.get('a'), '1')
      await sessions.put('b', '1', { ttlMs: 100_000 })
      assert.notEqual(await sessions.expiresAt('b'), Infinity)
    } finally {
      await db.close()
    }
  })
}

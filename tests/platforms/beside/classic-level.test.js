// Beside classic-level, which is LevelDB: each reads what the other has written, and neither opens what the other has open.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const require = createRequire(new URL('../../../packages/terrace/package.json', import.meta.url))
const { ClassicLevel } = require('classic-level')
const { Level } = require('terrace')

const COUNT = 20_000

function newDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-windows-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return join(directory, 'db')
}

/** Values that make several tables and logs. */
const valueAt = (n, round) => `${round}:`.padEnd(20 + (n % 300), String(n))

async function fill(db, round) {
  for (let begun = 0; begun < COUNT; begun += 1000) {
    const numbers = Array.from({ length: 1000 }, (_, n) => begun + n)
    await db.batch(numbers.map((n) => ({ type: 'put', key: `key${n}`, value: valueAt(n, round) })))
  }
  await db.del(`key${round}`)
  await db.put('last', String(round), { sync: true })
}

async function check(db, round) {
  const entries = new Map(await db.iterator().all())
  assert.equal(entries.size, COUNT)
  assert.equal(entries.get('last'), String(round))
  for (let n = 0; n < COUNT; n++) {
    const expected = n === round ? undefined : valueAt(n, round)
    if (entries.get(`key${n}`) !== expected) assert.fail(`key${n} is ${entries.get(`key${n}`)}`)
  }
}

for (const [first, second] of [
  [ClassicLevel, Level],
  [Level, ClassicLevel]
]) {
  test(`${second.name} reads and goes on with what ${first.name} has written`, async (t) => {
    const location = newDirectory(t)
    for (let round = 0; round < 4; round++) {
      const [writer, reader] = round % 2 === 0 ? [first, second] : [second, first]
      const written = new writer(location)
      await fill(written, round)
      await written.close()
      const read = new reader(location)
      await check(read, round)
      if (round === 2) await read.compactRange('a', 'z')
      await check(read, round)
      await read.close()
    }
  })
}

test('neither opens what the other has open, in one process', async (t) => {
  for (const [holder, other] of [
    [ClassicLevel, Level],
    [Level, ClassicLevel]
  ]) {
    const location = newDirectory(t)
    const held = new holder(location)
    await held.open()
    const error = await new other(location).open().then(assert.fail, (error) => error)
    assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN')
    assert.match(String(error.cause.code), /LEVEL_LOCKED|LEVEL_IO_ERROR|LEVEL_CORRUPTION/)
    if (other === Level) assert.equal(error.cause.code, 'LEVEL_LOCKED')
    await held.put('a', '1')
    await held.close()
    const again = new other(location)
    assert.equal(await again.get('a'), '1')
    await again.close()
  }
})

test('the error says which process has the database open, and the database is free once that is killed', async (t) => {
  const location = newDirectory(t)
  const child = fork(new URL('hold.js', import.meta.url), [location], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
  t.after(() => child.kill('SIGKILL'))
  await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`the child ended with ${code}`)))
  })
  const { cause } = await new Level(location).open().then(assert.fail, (error) => error)
  assert.equal(cause.code, 'LEVEL_LOCKED')
  assert.match(cause.message, new RegExp(`process ${child.pid}: `))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  // The system closes the files of a process after it has ended.
  const db = new Level(location, { passive: true })
  for (let wait = 0; db.status !== 'open'; wait++) {
    await db
      .open()
      .catch((error) => assert.ok(error.cause.code === 'LEVEL_LOCKED' && wait < 500, String(error.cause)))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.equal(await db.get('acknowledged'), 'yes')
  await db.close()
})

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

const openInChild = new URL('./support/open-in-child.js', import.meta.url)

test('a second instance in this process is refused', async (t) => {
  const first = await openLevel(t)
  const second = newLevel(t, undefined, first.location)

  await assert.rejects(second.open(), (error) => {
    assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN')
    assert.equal(error.cause.code, 'LEVEL_LOCKED')
    const [what, ...advice] = error.cause.message.split('; ')
    assert.equal(what, `the database is open already in this process: ${first.location}`)
    assert.match(advice.join('; '), /^close it there first; .*'readOnly'; .*'multithreading'$/)
    return true
  })

  await first.close()
  await second.open()
})

test('another process is refused, and told who holds the lock', async (t) => {
  const db = await openLevel(t)
  const child = fork(openInChild, [db.location])
  const [error] = await once(child, 'message')
  const [code] = await once(child, 'exit')

  assert.equal(code, 0)
  assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN')
  assert.equal(error.cause.code, 'LEVEL_LOCKED')
  assert.match(error.cause.message, new RegExp(String(process.pid)))
})

test('the lock is that of the directory, by whatever path it is reached', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'a'))
  await openLevel(t, undefined, join(directory, 'a'))
  const other = newLevel(t, undefined, join(directory, 'b', '..', 'a', '.'))

  await assert.rejects(other.open(), (error) => error.cause.code === 'LEVEL_LOCKED')
})

test('a relative location does not move with the working directory', async (t) => {
  const directory = temporaryDirectory(t)
  const before = process.cwd()
  t.after(() => process.chdir(before))
  process.chdir(directory)
  const db = newLevel(t, undefined, './relative')
  process.chdir(before)
  await db.open()
  await db.put('a', '1')
  await db.close()

  assert.equal(db.location, './relative')
  const again = await openLevel(t, { createIfMissing: false }, join(directory, 'relative'))
  assert.equal(await again.get('a'), '1')
})

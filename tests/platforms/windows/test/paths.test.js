// Paths and programs that are special on Windows.

import assert from 'node:assert/strict'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync
} from 'node:fs'
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const require = createRequire(new URL('../../../../packages/terrace/package.json', import.meta.url))
const { ClassicLevel } = require('classic-level')
const { Level } = require('terrace')

/**
 * What libuv calls UV_FS_O_EXLOCK: no other handle of the file may be opened meanwhile, as LevelDB from 1.21 on opens its log and
 * MANIFEST.
 */
const EXCLUSIVE = 0x10000000

function newDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-windows-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return directory
}

test('a database may have a path of 400 characters, and a name in any script', async (t) => {
  const directory = newDirectory(t)
  for (const location of [join(directory, 'x'.repeat(200), 'y'.repeat(200)), join(directory, '數據庫 Ω 🗃')]) {
    for (let round = 0; round < 3; round++) {
      const db = new Level(location)
      await db.put(`key${round}`, 'value', { sync: true })
      await db.compactRange('a', 'z')
      assert.equal((await db.keys().all()).length, round + 1)
      await db.close()
    }
    await Level.destroy(location)
    assert.deepEqual(
      readdirSync(directory).filter((name) => !name.startsWith('x')),
      []
    )
  }
})

test('a database may lie on a share of the network, and is locked there', async (t) => {
  const shared = newDirectory(t).replace(/^([a-z]):/i, '\\\\localhost\\$1$')
  for (const location of [join(shared, 'db'), join(shared, 'x'.repeat(200), 'y'.repeat(100))]) {
    const db = new Level(location)
    for (let round = 0; round < 3; round++) {
      await db.put(`key${round}`, 'value', { sync: true })
      await db.compactRange('a', 'z')
      assert.equal((await db.keys().all()).length, round + 1)
    }
    const { cause } = await new Level(location).open().then(assert.fail, (error) => error)
    assert.equal(cause.code, 'LEVEL_LOCKED')
    await db.close()
    await Level.destroy(location)
    assert.equal(existsSync(location), false)
  }
})

test('names that Windows keeps for itself are refused with advice, and nothing is made', async (t) => {
  const directory = newDirectory(t)
  for (const name of ['CON', 'nul', 'com1.db', 'dot.', 'space ']) {
    const { cause } = await new Level(join(directory, name)).open().then(assert.fail, (error) => error)
    assert.equal(cause.code, 'LEVEL_IO_ERROR', name)
    assert.match(cause.message, /choose another name/, name)
  }
  assert.deepEqual(readdirSync(directory), [])
})

test('a program that has files open while the database compacts and closes loses nothing', async (t) => {
  const location = join(newDirectory(t), 'db')
  mkdirSync(location)
  const db = new Level(location, { writeBufferSize: 1 << 16, maxFileSize: 1 << 20, compression: false })
  const held = []
  for (let round = 0; round < 5; round++) {
    const operations = Array.from({ length: 2000 }, (_, n) => ({
      type: 'put',
      key: `key${n}`,
      value: `${round}`.repeat(100)
    }))
    await db.batch(operations)
    // Like a backup: it reads every file, and keeps them open.
    for (const name of readdirSync(location)) {
      if (/\.(ldb|log)$/.test(name)) held.push(await open(join(location, name)).catch(() => undefined))
    }
    await db.compactRange('a', 'z')
  }
  assert.equal(await db.get('key7'), '4'.repeat(100))
  await db.close()
  await Promise.all(held.map((file) => file?.close()))
  await db.open()
  assert.equal((await db.keys().all()).length, 2000)
  assert.equal(await db.get('key1999'), '4'.repeat(100))
  await db.close()
})

test('a read-only database opens beside Terrace and classic-level, which write', async (t) => {
  for (const Writer of [Level, ClassicLevel]) {
    const location = join(newDirectory(t), 'db')
    const writer = new Writer(location)
    await writer.put('a', '1')
    const reader = new Level(location)
    await reader.open({ readOnly: true })
    assert.equal(await reader.get('a'), '1')
    await reader.close()
    await writer.close()
  }
})

test('a read-only open beside a writer that lets nobody read its files ends in an error that names the file', async (t) => {
  const location = join(newDirectory(t), 'db')
  const db = new Level(location)
  await db.put('a', '1')
  await db.close()
  const files = readdirSync(location).filter((name) => /\.log$|^MANIFEST/.test(name))
  assert.equal(files.length, 2)
  for (const name of files) {
    const file = openSync(join(location, name), constants.O_RDWR | EXCLUSIVE)
    const { cause } = await db.open({ readOnly: true }).then(assert.fail, (error) => error)
    assert.equal(cause.code, 'LEVEL_IO_ERROR')
    assert.equal(cause.path, join(location, name))
    assert.equal(cause.cause.code, 'EBUSY')
    closeSync(file)
  }
  await db.open({ readOnly: true })
  assert.equal(await db.get('a'), '1')
  await db.close()
})

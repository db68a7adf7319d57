// Errors of the disk: LevelDB's messages, with Terrace's code, path and cause.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { call, errorOf, leveldown, memdown, newLocation, opened } from './support/databases.js'

function expect(error, { name = 'Error', ...expected }) {
  assert.equal(error.name, name)
  for (const key of Object.keys(expected)) {
    if (expected[key] instanceof RegExp) assert.match(error[key], expected[key])
    else assert.equal(error[key], expected[key])
  }
  return error
}

test('a get of an absent key fails with NotFound', async (t) => {
  const db = await opened(t, leveldown(newLocation()))
  const { stackTraceLimit } = Error
  expect(await errorOf(db, 'get', 'absent'), { message: 'NotFound: ', code: 'LEVEL_NOT_FOUND' })
  assert.equal(Error.stackTraceLimit, stackTraceLimit)
  const memory = await opened(t, memdown())
  expect(await errorOf(memory, 'get', 'absent'), { message: 'NotFound', code: 'LEVEL_NOT_FOUND' })
})

test('a database that this process has open is locked', async (t) => {
  const location = newLocation()
  await opened(t, leveldown(location))
  const message = `IO error: lock ${location}/LOCK: already held by process`
  for (const failing of [errorOf(leveldown(location), 'open'), errorOf(leveldown, 'destroy', location)]) {
    const error = expect(await failing, { message, code: 'LEVEL_LOCKED', path: location })
    expect(error.cause, { code: 'LEVEL_LOCKED' })
  }
})

test('a database that another process has open is locked', async (t) => {
  const location = newLocation()
  await opened(t, leveldown(location))
  const program = `require('terrace-leveldown')(process.argv[1]).open(({ message, code }) => console.log(code, message))`
  const { stdout } = spawnSync(process.execPath, ['-e', program, location], {
    encoding: 'utf8',
    cwd: import.meta.dirname
  })
  const message = `IO error: lock ${location}/LOCK: Resource temporarily unavailable`
  assert.equal(stdout, `LEVEL_LOCKED ${message}\n`)
})

test('a missing database, and one that exists, are invalid arguments with the location as it was given', async () => {
  const location = relative(process.cwd(), newLocation())
  expect(await errorOf(leveldown(location), 'open', { createIfMissing: false }), {
    message: `Invalid argument: ${location}: does not exist (create_if_missing is false)`,
    code: 'LEVEL_DATABASE_MISSING'
  })
  const db = await opened(undefined, leveldown(location))
  await call(db, 'close')
  expect(await errorOf(db, 'open', { errorIfExists: true }), {
    message: `Invalid argument: ${location}: exists (error_if_exists is true)`,
    code: 'LEVEL_DATABASE_EXISTS'
  })
})

test('damage is a corruption, with the file', async () => {
  const location = newLocation()
  const db = await opened(undefined, leveldown(location))
  await call(db, 'put', 'a', '1')
  await call(db, 'close')
  const manifest = join(location, readFileSync(join(location, 'CURRENT'), 'utf8').trim())
  writeFileSync(manifest, 'damaged damaged damaged damaged')
  const error = expect(await errorOf(db, 'open'), {
    message: /^Corruption: .*MANIFEST/,
    code: 'LEVEL_CORRUPTION',
    path: manifest
  })
  expect(error.cause, { code: 'LEVEL_CORRUPTION' })

  await call(leveldown, 'repair', location)
  await call(db, 'open')
  assert.equal(await call(db, 'get', 'a', { asBuffer: false }), '1')
  await call(db, 'close')
})

test('what the operating system refuses is an IO error', async () => {
  const file = newLocation()
  writeFileSync(file, 'no directory')
  const error = expect(await errorOf(leveldown(file), 'open'), {
    message: /^IO error: /,
    code: 'LEVEL_IO_ERROR'
  })
  assert.equal(error.cause.cause.code, 'ENOTDIR')
  expect(await errorOf(leveldown(''), 'open'), { message: /^Invalid argument: .*location/ })
  expect(await errorOf(leveldown, 'repair', newLocation()), { message: /^IO error: / })
})

test('options of the wrong type are invalid arguments', async () => {
  for (const options of [{ cacheSize: 'x' }, { compression: 7 }, { writeBufferSize: -1 }]) {
    const db = leveldown(newLocation())
    const [name] = Object.keys(options)
    const error = expect(await errorOf(db, 'open', options), { code: 'LEVEL_INVALID_ARGUMENT' })
    assert.match(error.message, new RegExp(`^Invalid argument: .*'${name}'`))
    assert.equal(db.status, 'new')
  }
  expect(await errorOf(leveldown(newLocation()), 'open', { shared: true }), {
    message: /^Invalid argument: .*'shared'.*from\(\)/
  })
})

test('options of the engine take effect', async () => {
  const location = newLocation()
  const old = { compression: false, cacheSize: 1 << 20, writeBufferSize: 1 << 20, blockSize: 2048 }
  const older = { maxOpenFiles: 64, blockRestartInterval: 8, maxFileSize: 1 << 20, infoLogLevel: 'debug' }
  // What levelup passes on of its own options.
  const above = { keyEncoding: 'json', valueEncoding: { encode() {} }, passive: true }
  const db = await opened(undefined, leveldown(location), { ...old, ...older, ...above })
  assert.equal(db.status, 'open')
  await call(db, 'put', 'a', Buffer.alloc(100_000, 'x'))
  await call(db, 'compactRange', 'a', 'b')
  assert.ok((await call(db, 'approximateSize', 'a', 'b')) > 90_000, 'not compressed')
  await call(db, 'close')

  await call(db, 'open', { readOnly: true })
  expect(await errorOf(db, 'put', 'a', '1'), {
    message: /^Not implemented: .*read-only/,
    code: 'LEVEL_READ_ONLY'
  })
  await call(db, 'close')
  assert.ok(readdirSync(location).includes('CURRENT'))
})

test('an error of a hook function is passed on unchanged', async (t) => {
  const db = await opened(t, memdown())
  db.level.hooks.prewrite.add(() => {
    throw new Error('refused')
  })
  const error = expect(await errorOf(db, 'put', 'a', '1'), { code: 'LEVEL_HOOK_ERROR' })
  assert.equal(error.cause.message, 'refused')
})

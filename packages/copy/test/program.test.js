// The program, from its command line to its exit code.

import assert from 'node:assert/strict'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Level } from 'terrace'
import { LmdbLevel } from 'terrace-lmdb'
import { createServer } from 'terrace-net/server'
import { someOf } from '../../../tests/support/form.mjs'
import { directory } from './support/directory.js'
import { all, fill, numbered, someEntries } from './support/entries.js'
import { run } from './support/program.js'

const ENTRIES = someEntries(1000)

/** Makes a database in a directory, and closes it. */
async function make(Database, path, entries = ENTRIES) {
  const db = new Database(path)
  await fill(db, entries)
  await db.close()
}

/** What a database in a directory holds. */
async function contents(Database, path) {
  const db = new Database(path, { createIfMissing: false })
  try {
    return await all(db)
  } finally {
    await db.close()
  }
}

test('between directories of both kinds', async (t) => {
  const cwd = directory(t)
  await make(Level, join(cwd, 'level'))
  for (const [from, to] of [
    ['level', 'lmdb:one'],
    ['lmdb:one', 'lmdb:two'],
    [`lmdb://${join(cwd, 'two')}`, 'level:three'],
    ['level:three', join(cwd, 'four')]
  ]) {
    const { code, out, err } = await run(t, [from, to], { cwd })
    assert.deepEqual({ code, err }, { code: 0, err: '' })
    assert.match(out, /^1,000 entries \(1\.1 MB\) copied from .* to .* in [\d.]+ s: verified\n$/)
  }
  assert.deepEqual(await contents(LmdbLevel, join(cwd, 'two')), ENTRIES)
  assert.deepEqual(await contents(Level, join(cwd, 'four')), ENTRIES)
})

test('to and from a server, which asks for a token', async (t) => {
  const cwd = directory(t)
  await make(Level, join(cwd, 'level'))
  const db = new Level(join(cwd, 'served'))
  t.after(() => db.close())
  const server = createServer(db, { tokens: { 'let me in': { name: 'ada' } } })
  const address = await server.listen('tcp://127.0.0.1:0')
  t.after(() => server.close())

  const refused = await run(t, ['level', address], { cwd })
  assert.deepEqual({ code: refused.code, out: refused.out }, { code: 3, out: '' })
  const env = { TERRACE_TO_TOKEN: 'let me in', TERRACE_FROM_TOKEN: 'let me in' }
  assert.equal((await run(t, ['level', address], { cwd, env })).code, 0)
  assert.deepEqual(await all(db), ENTRIES)

  const file = join(cwd, 'options.json')
  writeFileSync(file, JSON.stringify({ token: 'let me in' }), { mode: 0o600 })
  const args = [address, 'lmdb:back', '--from-options', file]
  assert.equal((await run(t, args, { cwd })).code, 0)
  assert.deepEqual(await contents(LmdbLevel, join(cwd, 'back')), ENTRIES)
})

test('the source may be in use, the target may not', async (t) => {
  const cwd = directory(t)
  const db = new Level(join(cwd, 'level'))
  t.after(() => db.close())
  await fill(db, ENTRIES)
  assert.equal((await run(t, ['level', 'lmdb:copy'], { cwd })).code, 0)
  const { code, err } = await run(t, ['lmdb:copy', 'level'], { cwd })
  assert.equal(code, 4)
  assert.match(err, /^terrace-copy: .*\(LEVEL_LOCKED\)\n$/s)
})

test('a directory that is copied to itself stays as it is, and may be copied to a sublevel of its own', async (t) => {
  const cwd = directory(t)
  for (const [Database, path] of [
    [LmdbLevel, 'lmdb:db'],
    [Level, 'level:other']
  ]) {
    const name = path.split(':')[1]
    await make(Database, join(cwd, name))
    const { code, err } = await run(t, [path, path.replace(':', ':./'), '--overwrite'], { cwd })
    assert.equal(code, 3)
    assert.match(err, /COPY_SAME_DATABASE/)
    assert.deepEqual(await contents(Database, join(cwd, name)), ENTRIES)

    const sublevels = ['--to-sublevel', 'new', '--gte', '\\x00', '--lt', '!']
    assert.equal((await run(t, [path, path, ...sublevels], { cwd })).code, 0)
    const again = ['--from-sublevel', 'new', '--to-sublevel', 'newer']
    assert.equal((await run(t, [path, path, ...again], { cwd })).code, 0)
    const db = new Database(join(cwd, name))
    const copied = ENTRIES.filter(([key]) => key.length > 0 && key[0] < 0x21)
    assert.deepEqual(await all(db.sublevel('newer')), copied)
    await db.close()
  }
  assert.equal((await run(t, ['lmdb:none', 'lmdb:none'], { cwd })).code, 3)
  assert.ok(!existsSync(join(cwd, 'none')))
})

test('a summary as JSON, of each way to treat a target with entries', async (t) => {
  const cwd = directory(t)
  await make(Level, join(cwd, 'level'))
  await make(LmdbLevel, join(cwd, 'lmdb'), [[Buffer.from('~'), Buffer.from('other')], ...ENTRIES.slice(500)])
  const refused = await run(t, ['level', 'lmdb:lmdb', '--json'], { cwd })
  assert.deepEqual({ code: refused.code, out: refused.out }, { code: 3, out: '' })
  assert.match(refused.err, /^terrace-copy: TO has entries\. --merge .* --overwrite .*\n$/)

  const both = ['level', 'lmdb:lmdb']
  const { out } = await run(t, [...both, '--json', '--merge'], { cwd })
  const { elapsedMs, checksum, ...merged } = JSON.parse(out)
  assert.ok(Number.isInteger(elapsedMs) && /^[0-9a-f]{8}$/.test(checksum))
  const bytes = ENTRIES.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  const common = { from: 'level', to: 'lmdb:lmdb', entries: 1000, bytes, resumed: false }
  assert.deepEqual(merged, { ...common, written: 500, deleted: 0, verified: true })
  assert.equal((await contents(LmdbLevel, join(cwd, 'lmdb'))).length, 1001)

  const again = await run(t, [...both, '--json', '--overwrite', '--no-verify'], { cwd })
  const { elapsedMs: _, ...overwritten } = JSON.parse(again.out)
  assert.deepEqual(overwritten, { ...common, checksum, written: 0, deleted: 1, verified: false })
  assert.deepEqual(await contents(LmdbLevel, join(cwd, 'lmdb')), ENTRIES)
})

test('ranges, with escapes, and sublevels', async (t) => {
  const cwd = directory(t)
  const db = new Level(join(cwd, 'level'))
  const deep = db.sublevel(['a', 'b'])
  await fill(deep, [...numbered(100), [Buffer.from([0xff, 0x00]), Buffer.from('x')]])
  await db.close()
  const copied = async (...args) => {
    const sublevels = ['--from-sublevel', 'a', '--from-sublevel', 'b', '--to-sublevel', 'c']
    const { code } = await run(t, ['level', 'lmdb:to', ...sublevels, ...args, '--overwrite'], { cwd })
    assert.equal(code, 0)
    const to = new LmdbLevel(join(cwd, 'to'))
    const keys = await to.sublevel('c', { keyEncoding: 'buffer' }).keys().all()
    assert.equal((await to.keys().all()).length, keys.length)
    await to.close()
    return keys.map((key) => key.toString('latin1'))
  }
  assert.equal((await copied()).length, 101)
  assert.deepEqual(
    await copied('--prefix', 'key 000001'),
    [...Array(10).keys()].map((n) => `key 000001${n}`)
  )
  assert.deepEqual(await copied('--gt', 'key 0000097', '--lte', 'key 0000099'), [
    'key 0000098',
    'key 0000099'
  ])
  assert.deepEqual(await copied('--prefix', '\\xFF'), ['\xff\0'])
  assert.deepEqual(await copied('--gte', '\\xff\\x00\\n'), [])
})

test('what is wrong with a command line, and with a database, is said, with an exit code of its own', async (t) => {
  const cwd = directory(t)
  await make(Level, join(cwd, 'level'))
  writeFileSync(join(cwd, 'bad.json'), '{ "password": "hunter2", }', { mode: 0o600 })
  writeFileSync(join(cwd, 'list.json'), '[]', { mode: 0o600 })
  for (const [args, expected, pattern] of [
    [[], 2, /FROM and TO/],
    [['level'], 2, /FROM and TO/],
    [['level', 'a', 'b'], 2, /'b' is one argument too many/],
    [['level', 'a', '--compression'], 2, /--compression/],
    [['level', 'a', '--merge', '--overwrite'], 2, /contradict/],
    [['level', 'a', '--batch-size', '0'], 2, /--batch-size must be/],
    [['level', 'a', '--batch-size', '1048577'], 2, /--batch-size must be/],
    [['level', 'a', '--prefix', 'x\\y'], 2, /backslash/],
    [['level', 'a', '--prefix', 'x', '--gt', 'y'], 2, /cannot be combined/],
    [['level', 'redis://host/1'], 2, /begins with none of level:/],
    [['level', 'lmdb:'], 2, /names no database/],
    [['level', 'mysql:shop'], 2, /mysql:\/\/USER@HOST/],
    [['level', 'tcp:nowhere'], 3, /is not an address/],
    [['level', 'a', '--to-options', 'missing.json'], 2, /ENOENT/],
    [['level', 'a', '--to-options', 'bad.json'], 2, /bad\.json is not valid JSON\n$/],
    [['level', 'a', '--to-options', 'list.json'], 2, /must hold an object/],
    [['missing', 'a'], 3, /^terrace-copy: missing: .*does not exist: .*missing/],
    [['lmdb:missing', 'a'], 3, /^terrace-copy: lmdb:missing: .*LEVEL_DATABASE_MISSING/]
  ]) {
    const { code, out, err } = await run(t, args, { cwd })
    assert.deepEqual({ code, out }, { code: expected, out: '' }, `${args}: ${err}`)
    assert.match(err, pattern)
    assert.match(err, /^terrace-copy: /)
    assert.ok(!err.includes('hunter2') && !/\n +at /.test(err), err)
  }
  assert.ok(!existsSync(join(cwd, 'a')) && !existsSync(join(cwd, 'missing')))
})

test('a file of options that others can read is refused', {
  skip: process.platform === 'win32' && 'files have no modes'
}, async (t) => {
  const cwd = directory(t)
  await make(Level, join(cwd, 'level'))
  writeFileSync(join(cwd, 'open.json'), '{}')
  for (const mode of someOf([0o644, 0o640, 0o602])) {
    chmodSync(join(cwd, 'open.json'), mode)
    const { code, out, err } = await run(t, ['level', 'a', '--to-options', 'open.json'], { cwd })
    assert.deepEqual({ code, out }, { code: 2, out: '' })
    assert.match(err, /^terrace-copy: .*chmod 600 open\.json\n$/)
  }
  assert.ok(!existsSync(join(cwd, 'a')))
})

test('help and version', async (t) => {
  for (const args of [['--help'], ['-h'], ['--version']]) {
    const { code, out, err } = await run(t, args)
    assert.deepEqual({ code, err }, { code: 0, err: '' })
    assert.match(out, args[0] === '--version' ? /^\d+\.\d+\.\d+\n$/ : /^Usage: terrace-copy FROM TO/)
  }
  const { out } = await run(t, ['--help'])
  assert.ok(out.split('\n').every((line) => line.length <= 128))
})

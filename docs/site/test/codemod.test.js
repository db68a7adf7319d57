// The codemod of docs/migrating.md: what it changes runs on Terrace as it ran before, and what it cannot change it names.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { HANG_MS } from '../../../tests/support/waiting.mjs'
import { root } from '../root.mjs'

const { version } = JSON.parse(readFileSync(join(root, 'packages/terrace/package.json'), 'utf8'))

/** A project with these files, which finds our packages and those that they take the place of. */
function makeProject(t, files) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-codemod-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return {
    run: (...args) =>
      spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', timeout: HANG_MS }),
    codemod: (...args) =>
      spawnSync(process.execPath, [join(root, 'docs/codemod.mjs'), ...args], {
        cwd: directory,
        encoding: 'utf8'
      }),
    text: (name) => readFileSync(join(directory, name), 'utf8')
  }
}

const PROGRAM = `import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from "memory-level"
const db = new ClassicLevel('db', { valueEncoding: 'json' })
await db.put('visits', ((await db.get('visits')) ?? 0) + 1)
const copy = new MemoryLevel({ valueEncoding: 'json' })
for await (const [key, value] of db.iterator()) await copy.put(key, value)
console.log(await copy.get('visits'), typeof db.checkpoint)
await db.close()
`

test('a program runs as before, on the same data', (t) => {
  const project = makeProject(t, { 'main.mjs': PROGRAM })
  assert.equal(project.run('main.mjs').stdout, '1 undefined\n')
  assert.equal(project.codemod('.', '--write').status, 0)
  const { stdout, stderr } = project.run('main.mjs')
  assert.equal(stderr, '')
  assert.equal(stdout, '2 function\n')
})

test('without --write it changes nothing, and shows what it would change', (t) => {
  const project = makeProject(t, { 'main.mjs': PROGRAM })
  const { stdout, status } = project.codemod('.')
  assert.equal(status, 0)
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    "main.mjs:1: - import { ClassicLevel } from 'classic-level'",
    'main.mjs:2: - import { MemoryLevel } from "memory-level"',
    "main.mjs:1: + import { ClassicLevel } from 'terrace'",
    'main.mjs:2: + import { MemoryLevel } from "terrace"'
  ])
  assert.equal(project.text('main.mjs'), PROGRAM)
})

/** Lines of source, and what becomes of them. */
const LINES = {
  "const { Level } = require('level')": "const { Level } = require('terrace')",
  "import type { AbstractLevel } from 'abstract-level'":
    "import type { AbstractLevel } from 'abstract-level'",
  "export { Level } from 'level'": "export { Level } from 'terrace'",
  "const { MemoryLevel } = await import('memory-level')": "const { MemoryLevel } = await import('terrace')",
  "import { BrowserLevel } from 'browser-level'": "import { Level as BrowserLevel } from 'terrace'",
  "import { BrowserLevel as Db } from 'browser-level'": "import { Level as Db } from 'terrace'",
  "const { BrowserLevel } = require('browser-level')": "const { Level: BrowserLevel } = require('terrace')",
  "const { BrowserLevel: Db } = require('browser-level')": "const { Level: Db } = require('terrace')",
  "require.resolve('classic-level')": "require.resolve('terrace')",
  "const level = 'level', from = 'classic-level-fork'": "const level = 'level', from = 'classic-level-fork'",
  "import { Level } from 'level/browser.js'": "import { Level } from 'level/browser.js'"
}

for (const [before, after] of Object.entries(LINES)) {
  test(`${before} becomes ${after}`, (t) => {
    const project = makeProject(t, { 'main.ts': `${before}\n` })
    const { status, stderr } = project.codemod('.', '--write')
    assert.equal(stderr, '')
    assert.equal(status, 0)
    assert.equal(project.text('main.ts'), `${after}\n`)
  })
}

test('package.json depends on terrace, in its place, and keeps its indentation', (t) => {
  const project = makeProject(t, {
    'package.json':
      '{\n    "name": "shop",\n    "dependencies": {\n        "level": "^10.0.0",\n        "zod": "1.0.0"\n    }\n}\n',
    'packages/a/package.json': '{ "devDependencies": { "memory-level": "1.0.0", "ava": "1.0.0" } }\n',
    'packages/b/package.json': '{ "name": "b" }\n'
  })
  assert.equal(project.codemod('.', '--write').status, 0)
  assert.equal(
    project.text('package.json'),
    `{\n    "name": "shop",\n    "dependencies": {\n        "terrace": "^${version}",\n        "zod": "1.0.0"\n    }\n}\n`
  )
  assert.deepEqual(JSON.parse(project.text('packages/a/package.json')), {
    devDependencies: { ava: '1.0.0', terrace: `^${version}` }
  })
  assert.equal(project.text('packages/b/package.json'), '{ "name": "b" }\n')
})

test('what is to do by hand is named with its line, and the exit code says so', (t) => {
  const project = makeProject(t, {
    'old.cjs': "const level = require('level')\nconst sub = require('subleveldown')\n",
    'streams.js': "db.createReadStream({ gte: 'a' })\nif (error.notFound) create()\n",
    'browser.js': "const db = new BrowserLevel('notes')\n",
    'vendor/node_modules/x.js': "require('levelup')\n"
  })
  const { stdout, status } = project.codemod('.')
  assert.equal(status, 1)
  const places = stdout
    .split('\n')
    .filter((line) => line.includes('by hand'))
    .map((line) => line.split(': ')[0])
  assert.deepEqual(places, ['browser.js:1', 'old.cjs:1', 'old.cjs:2', 'streams.js:1', 'streams.js:2'])
})

/** The lines of output that name something to do by hand, each without its file. */
const byHand = (stdout) =>
  stdout
    .split('\n')
    .filter((line) => line.includes(': by hand: '))
    .map((line) => line.replace(/^[^:]+:/, ''))

test('listeners of put, del and batch, which would never be called, are to change by hand', (t) => {
  const project = makeProject(t, {
    'main.js': `const { Level } = require('level')
db.on('put', (key) => console.log(key))
db.once("del", forget)
db.addListener( 'batch', index)
db.on('write', index)
db.on('clear', empty)
db.put('on', 'put')
form.on('button', send)
`
  })
  const { stdout, status } = project.codemod('.')
  assert.equal(status, 1)
  const advice = "by hand: db.on('write', (operations) => …): one event for put, del and batch"
  assert.deepEqual(byHand(stdout), [`2: ${advice}`, `3: ${advice}`, `4: ${advice}`])
})

test('a program that waits for ready waits for ever, so it is told of open', (t) => {
  const ready = "db.once('ready', start)\n"
  const project = makeProject(t, {
    'import.mjs': `import { Level } from 'level'\n${ready}`,
    'levelup.cjs': `const levelup = require('levelup')\n${ready}`,
    'socket.mjs': `import { client } from './client.mjs'\nclient.on('ready', start)\n`
  })
  const wanted = "2: by hand: the event is 'open'"
  assert.deepEqual(
    byHand(project.codemod('.').stdout).filter((line) => line.startsWith('2')),
    [wanted, wanted]
  )
  project.codemod('.', '--write')
  assert.deepEqual(byHand(project.codemod('import.mjs').stdout), [wanted])
})

test('a second run has nothing to do', (t) => {
  const project = makeProject(t, {
    'main.mjs': PROGRAM,
    'package.json': '{ "dependencies": { "level": "10.0.0" } }\n'
  })
  project.codemod('.', '--write')
  const { stdout, status } = project.codemod('.', '--write')
  assert.equal(stdout, '')
  assert.equal(status, 0)
})

test('a wrong call is refused', (t) => {
  const { codemod } = makeProject(t, {})
  for (const args of [[], ['.', '--force'], ['.', '--write', 'x']]) {
    const { status, stderr } = codemod(...args)
    assert.equal(status, 2)
    assert.match(stderr, /^usage: /)
  }
})

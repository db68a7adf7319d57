// The program never prints passwords or tokens, whatever the back-end's package prints.
//
// In the full form only: it packs and installs the package.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Projects } from '../../../tests/support/projects.mjs'
import { directory } from './support/directory.js'
import { run } from './support/program.js'

const projects = new Projects()
after(() => projects.remove())

/** What is installed as `terrace-mysql`: it prints everything that it receives. */
const TALKATIVE = `exports.MysqlLevel = class {
  constructor(...args) {
    this.args = args
  }
  async open() {
    const [url, options] = this.args
    const password = decodeURIComponent(/:([^/:]*)@/.exec(url)[1])
    throw new Error(['refused:', url, password, JSON.stringify(options)].join(' '))
  }
}`

/** The same with two hosts, which no `URL` can read. */
const several = (url) => url.replace(':3307', ':3307,other:3308')

/** What is installed as `terrace`. */
const QUIET = 'exports.Level = class { async open() {} async close() {} }'

/** A project in which the program is installed, with packages of back-ends. */
function project(name, packages) {
  const cwd = projects.make(name, { archives: projects.archivesOf('packages/copy') })
  for (const [each, source] of Object.entries(packages)) {
    const home = join(cwd, 'node_modules', each)
    mkdirSync(home)
    writeFileSync(join(home, 'package.json'), JSON.stringify({ name: each, version: '0.1.0' }))
    writeFileSync(join(home, 'index.js'), source)
  }
  return { cwd, file: join(cwd, 'node_modules', 'terrace-copy', 'dist', 'main.js') }
}

test('secrets are masked, and the package of the back-end gets them', async (t) => {
  const { cwd, file } = project('talkative', { 'terrace-mysql': TALKATIVE, terrace: QUIET })
  const options = '{ "ssl": { "key": "PEM p@ss\\n2" }, "deadlineMs": 5 }'
  writeFileSync(join(cwd, 'options.json'), options, { mode: 0o600 })
  const url = 'mysql://ada:p%40ss%2F1@db.example:3307/shop?name=fruit&sslpassword=p3'
  const withoutPassword = url.replace(':p%40ss%2F1', '')
  for (const [args, env] of [
    [[url, 'x', '--from-options', 'options.json'], {}],
    [['x', url, '--to-options', 'options.json'], {}],
    [['x', withoutPassword, '--to-options', 'options.json'], { TERRACE_TO_PASSWORD: 'p@ss/1' }],
    [[withoutPassword, 'x', '--from-options', 'options.json'], { TERRACE_FROM_PASSWORD: 'p@ss/1' }],
    [[several(url), 'x', '--from-options', 'options.json'], {}],
    [[several(withoutPassword), 'x', '--from-options', 'options.json'], { TERRACE_FROM_PASSWORD: 'p@ss/1' }]
  ]) {
    const { code, out, err } = await run(t, args, { cwd, env, file })
    assert.deepEqual({ code, out }, { code: 3, out: '' })
    assert.match(err, /mysql:\/\/ada:\*{3}@db\.example:3307(,other:3308)?\/shop\?sslpassword=\*{3} \*{3} \{/)
    assert.ok(err.includes('"name":"fruit"') && err.includes('"deadlineMs":5'), err)
    for (const secret of ['p@ss', 'p%40ss', 'p3', 'PEM']) assert.ok(!err.includes(secret), err)
  }
})

test('a URL that is refused is shown without its password', async (t) => {
  const cwd = directory(t)
  for (const args of [
    ['foo://ada:hunter2@host/x', 'y'],
    ['a', 'b', 'mysql://ada:hunter2@host/x'],
    ['mysql://ada:hunter2@host:99999/x', 'y'],
    ['mysql://ada:hunter2@/x', 'y'],
    ['y', 'wss://ada:hunter2@[/x'],
    ['lmdb:y', 'level:z', '--prefix', '\\mysql://ada:hunter2@host/x']
  ]) {
    const { code, err } = await run(t, args, { cwd })
    assert.notEqual(code, 0)
    assert.ok(!err.includes('hunter2'), err)
  }
})

test('a package that is missing is named', async (t) => {
  const { cwd, file } = project('bare', {})
  for (const [from, name] of [
    ['level', 'terrace'],
    ['lmdb:x', 'terrace-lmdb'],
    ['mysql://host/x', 'terrace-mysql'],
    ['slatedb:file:///x', 'terrace-slatedb'],
    ['tcp://127.0.0.1:1', 'terrace-net']
  ]) {
    const { code, err } = await run(t, [from, 'x'], { cwd, file })
    assert.deepEqual(
      { code, err },
      { code: 3, err: `terrace-copy: the package ${name} is missing: npm install ${name}\n` }
    )
  }
})

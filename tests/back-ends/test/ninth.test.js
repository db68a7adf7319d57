// A new back-end needs only a package, its entry in the list, and its page; everything else picks it up.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { packagesIn, root } from '../../../scripts/workspace.mjs'

const PACKAGE = 'packages/back-ends/ninth'

const ENTRY = {
  package: 'terrace-ninth',
  class: 'NinthLevel',
  title: 'The ninth',
  schemes: ['ninth'],
  location: 'path',
  usage: 'ninth:PATH',
  what: 'an array in memory',
  reading: {}
}

/** The one version of everything here. */
const [
  {
    manifest: { version }
  }
] = packagesIn()

const MANIFEST = {
  name: 'terrace-ninth',
  version,
  type: 'module',
  exports: './index.js',
  dependencies: { 'terrace-core': `^${version}` }
}

const MODULE = `
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from '../../core/test/support/array-backend.js'

/** Paths are names of what this process has in memory. */
const backEnds = new Map()

export class NinthLevel extends BackendLevel {
  constructor(location, options) {
    if (!backEnds.has(location)) backEnds.set(location, new ArrayBackend())
    super(backEnds.get(location), options)
  }
}
`

const TARGET = `
import { NinthLevel } from 'terrace-ninth'

export const targets = [
  {
    name: 'NinthLevel',
    machines: 'none',
    supports: { getSync: false, putSync: false, everyWrite: true, conditionalWrites: false },
    make: (location, options) => new NinthLevel(location, options),
    several: {},
    known: {}
  }
]

export const measured = [{ name: 'NinthLevel', from: 'terrace-ninth' }]
`

/** The repository with one more back-end in it. */
let copy

before(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'terrace-ninth-')))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20
  })
  const isNeeded = /^(package\.json|(packages|scripts|tests|bench|docs)\/(?!.*\/results\/))/
  for (const file of listed.split('\0')) {
    if (isNeeded.test(file) && existsSync(join(root, file))) take(file)
  }
  for (const { directory } of packagesIn()) take(join(directory, 'dist'))
  for (const name of readdirSync(join(root, 'packages/terrace'))) {
    if (name.endsWith('.node')) take(join('packages/terrace', name))
  }
  linkModules()

  write(`${PACKAGE}/package.json`, JSON.stringify(MANIFEST))
  write(`${PACKAGE}/index.js`, MODULE)
  write(`${PACKAGE}/README.md`, '# terrace-ninth\n')
  write(`${PACKAGE}/test/targets/index.js`, TARGET)
  const list = join(copy, 'packages/copy/back-ends.json')
  write(
    'packages/copy/back-ends.json',
    JSON.stringify({ ...JSON.parse(readFileSync(list, 'utf8')), ninth: ENTRY })
  )
  symlinkSync(join(copy, PACKAGE), join(copy, 'node_modules/terrace-ninth'), 'junction')
})

after(() => rmSync(copy, { recursive: true, force: true }))

/** Copies a file or directory. */
function take(file) {
  if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file), { recursive: true })
}

function write(file, text) {
  mkdirSync(dirname(join(copy, file)), { recursive: true })
  writeFileSync(join(copy, file), text)
}

/** Links what npm has installed, but our packages to those of the copy. */
function linkModules() {
  const own = new Map(packagesIn().map(({ name, directory }) => [name, directory]))
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const target = own.has(name) ? join(copy, own.get(name)) : join(root, 'node_modules', name)
    if (existsSync(target)) symlinkSync(target, join(copy, 'node_modules', name), 'junction')
  }
}

/** Runs a module of the copy, which must succeed. Returns what it prints. */
function run(module, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, module), ...args], {
    cwd: copy,
    encoding: 'utf8'
  })
  assert.equal(status, 0, `${module} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

test('terrace-copy copies to it, and names it in its help', () => {
  const program = 'packages/copy/dist/main.js'
  assert.match(run(program, '--help'), /^ {2}ninth:PATH +an array in memory +terrace-ninth$/m)
  write('fill.mjs', "import { Level } from 'terrace'; const db = new Level('from'); await db.put('a', '1')")
  run('fill.mjs')
  const summary = JSON.parse(run(program, join(copy, 'from'), 'ninth:to', '--json'))
  assert.deepEqual([summary.entries, summary.verified], [1, true])
})

test("abstract-level's suite runs over it, and over a client in front of it", () => {
  for (const name of ['NinthLevel', 'NetLevel in front of NinthLevel']) {
    const printed = run('tests/back-ends/run.js', '--target', name, '--job', 'suite')
    const [, passed] = new RegExp(`^${name}, suite: (\\d+) pass, `, 'm').exec(printed) ?? []
    assert.ok(Number(passed) >= 1470, printed)
  }
})

test('it is measured with the others', () => {
  write(
    'bench/back-ends/shown.mjs',
    "import { targets } from './targets.js'; console.log(targets.map(({ name }) => name).join())"
  )
  const measured = run('bench/back-ends/shown.mjs').trim().split(',')
  assert.ok(measured.includes('NinthLevel') && measured.includes('Level'), measured.join())
})

test('it has a page and a reference on the site', () => {
  write(
    'docs/site/shown.mjs',
    `import { ENTRY_POINTS } from './entry-points.mjs'
     import * as pages from './pages.mjs'
     console.log(JSON.stringify({ ENTRY_POINTS, documents: pages.documents }))`
  )
  const { ENTRY_POINTS, documents } = JSON.parse(run('docs/site/shown.mjs'))
  assert.equal(ENTRY_POINTS['terrace-ninth'], `${PACKAGE}/src/index.ts`)
  assert.ok(documents.includes(`${PACKAGE}/README.md`))
})

test('nothing else of the repository names it', () => {
  const changed = readdirSync(copy, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(js|mjs|ts|json|mk|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules') && readFileSync(file, 'utf8').includes('NinthLevel'))
    .map((file) => relative(copy, file).replaceAll('\\', '/'))
  assert.deepEqual(changed.filter((file) => !file.startsWith(PACKAGE)).sort(), [
    'packages/copy/back-ends.json',
    'tests/back-ends/test/ninth.test.js'
  ])
})

// The overrides that the README of terrace-leveldown gives, applied by npm: programs get Terrace wherever they had leveldown or memdown.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { commandOf } from '../../../../scripts/npm.mjs'
import { environment, Projects, root } from '../../../support/projects.mjs'
import { ran, TREES } from './support/both.js'
import { startRegistry } from './support/registry.js'

const readme = readFileSync(join(root, 'packages', 'leveldown', 'README.md'), 'utf8')

/** The code blocks of a section of the README. */
function blocksOf(heading) {
  const [, section] = readme.split(`## ${heading}\n`)
  return [...section.split(/^## /m)[0].matchAll(/```\w+\n(.*?)```/gs)].map(([, block]) => block)
}

const projects = new Projects()
let registry

before(async () => {
  registry = await startRegistry({
    modules: [join(TREES.original, 'node_modules'), join(root, 'node_modules')],
    archives: projects.archivesOf('packages/leveldown')
  })
})

after(() => {
  registry.stop()
  projects.remove()
})

/** Makes a project, with files in it, and has npm install what its package.json names, and `more`. */
async function project(name, { manifest, files = {}, more = [] }) {
  const directory = join(projects.directory, name)
  for (const [file, text] of Object.entries({ 'package.json': JSON.stringify(manifest), ...files })) {
    mkdirSync(join(directory, file, '..'), { recursive: true })
    writeFileSync(join(directory, file), text)
  }
  await install(directory, more)
  return directory
}

async function install(directory, more = []) {
  const place = [`--registry=${registry.url}`, `--cache=${join(projects.directory, 'cache')}`]
  await npm(directory, 'install', ...more, ...place, '--ignore-scripts', '--no-audit', '--no-fund')
}

/** Runs npm, without blocking the registry. */
async function npm(cwd, ...args) {
  const [program, ...first] = commandOf(process)
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  const status = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(status, 0, printed)
}

/** The names that the packages have which are installed as `name`, wherever they are below a directory. */
function installedAs(name, directory) {
  return readdirSync(directory, { recursive: true })
    .filter((file) => file.endsWith(join('node_modules', name, 'package.json')))
    .map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')).name)
}

async function runs(directory, file, expected) {
  const { status, stdout, stderr } = await ran([file], directory)
  assert.equal(stderr, '')
  assert.equal(stdout, expected)
  assert.equal(status, 0)
}

const dependencies = {
  'encoding-down': '7.1.0',
  level: '7.0.1',
  levelup: '5.1.1',
  'pouchdb-adapter-leveldb': '9.0.0'
}

const program = `
  const level = require('level')
  const levelup = require('levelup')
  const encode = require('encoding-down')

  async function main() {
    const db = level('level', { valueEncoding: 'json' })
    await db.put('a', { one: 1 })
    await db.batch().put('b', [2]).del('none').write()
    console.log(await db.get('a'), await db.getMany(['b', 'c']))
    for await (const [key, value] of db.iterator({ reverse: true })) console.log(key, value)
    await db.close()

    const other = levelup(encode(require('leveldown')('levelup')))
    await other.put('c', 'three')
    other.createReadStream().on('data', console.log).on('end', async () => {
      await other.close()
      // Terrace's own.
      console.log(typeof require('leveldown').from)
    })
  }
  main()
`

const printed = `{ one: 1 } [ [ 2 ], undefined ]
b [ 2 ]
a { one: 1 }
{ key: 'c', value: 'three' }
`

for (const [name, overrides] of Object.entries({
  'of the README': () => JSON.parse(blocksOf('In place of leveldown')[0]).overrides,
  'to an archive': () => ({
    leveldown: `file:${projects.pack('packages/leveldown').find((file) => /terrace-leveldown/.test(file))}`
  })
})) {
  test(`level and levelup run on Terrace by an override ${name}`, async () => {
    const overridden = await project(`leveldown ${name}`, {
      manifest: { name: 'program', dependencies, overrides: overrides() },
      // The program requires leveldown itself, as those do that npm has hoisted it for.
      files: { 'program.js': program }
    })
    const names = installedAs('leveldown', overridden)
    assert.ok(names.length > 0)
    assert.deepEqual(
      names.filter((each) => each !== 'terrace-leveldown'),
      []
    )
    await runs(overridden, 'program.js', `${printed}function\n`)
    // npm agrees with what it has installed.
    await npm(overridden, 'ls', '--all')
  })
}

test('without it the same program has leveldown', async () => {
  const plain = await project('plain', {
    // The version that is installed here, for all of them.
    manifest: { name: 'program', dependencies, overrides: { leveldown: '6.1.1' } },
    files: { 'program.js': program }
  })
  assert.deepEqual([...new Set(installedAs('leveldown', plain))], ['leveldown'])
  await runs(plain, 'program.js', `${printed}undefined\n`)
})

test('level-mem runs on Terrace by the directory that stands for memdown', async () => {
  const [, manifest, index, overrides] = blocksOf('In memory, in place of memdown')
  const [, packages] = /run `npm install ([^`]*)`/.exec(readme)
  const directory = await project('memdown', {
    manifest: { name: 'program', dependencies: { 'level-mem': '6.0.1' } },
    files: {
      'memdown/package.json': manifest,
      'memdown/index.js': index,
      'program.js': `
        const db = require('level-mem')()
        db.put('a', '1', () => db.get('a', (error, value) => {
          console.log(value, require('memdown') === require('terrace-leveldown/memory'))
        }))
      `
    },
    more: packages.split(' ')
  })
  const file = join(directory, 'package.json')
  const installed = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...installed, ...JSON.parse(overrides) }))
  await install(directory)
  // There is no other one for level-mem.
  const all = readdirSync(directory, { recursive: true })
  assert.deepEqual(
    all.filter((each) => each.endsWith(join('node_modules', 'memdown'))),
    [join('node_modules', 'memdown')]
  )
  await runs(directory, 'program.js', '1 true\n')
})

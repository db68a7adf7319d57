// The packages as npm would publish them, installed into empty projects without a network and without install
// scripts, and used from ES modules, CommonJS and TypeScript, and in place of classic-level.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pack } from '../../../scripts/pack-terrace.mjs'

const require = createRequire(import.meta.url)
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const scratch = mkdtempSync(join(tmpdir(), 'terrace-package-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

// Settings of an npm that runs this test must not reach the npm that it runs.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

let packages
let dependencies

before(() => {
  packages = pack(join(scratch, 'packages'))
  dependencies = packDependencies('abstract-level')
})

function npm(args, folder) {
  const cache = `--cache=${join(scratch, 'cache')}`
  const all = [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', cache]
  return execFileSync('npm', all, { cwd: folder, env: environment, encoding: 'utf8', stdio: 'pipe' })
}

/** Archives of what `name` depends on, and of itself, from what is installed here. */
function packDependencies(name, seen = new Map()) {
  if (seen.has(name)) return []
  const folder = join(root, 'node_modules', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  npm(['pack', folder, '--pack-destination', join(scratch, 'packages')], scratch)
  seen.set(name, join(scratch, 'packages', `${name}-${manifest.version}.tgz`))
  for (const dependency of Object.keys(manifest.dependencies ?? {})) packDependencies(dependency, seen)
  return [...seen.values()]
}

/** An empty project with the packages installed. */
function project(name, { archives = [...packages, ...dependencies], manifest = {}, files = {} } = {}) {
  const folder = join(scratch, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, ...manifest }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  npm(['install', ...archives], folder)
  return folder
}

/** Runs a program, which must end well and print nothing but what is expected: no warnings either. */
function expectOutput(folder, file, expected) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: 'utf8',
    env: environment
  })
  assert.equal(stderr, '')
  assert.equal(stdout, expected)
  assert.equal(status, 0)
}

/** A program that uses Level, with `types` behind its name in TypeScript. */
const program = (types = '') => `
async function main() {
  const db = new Level${types}('db', { valueEncoding: 'json' })
  await db.put('a', { n: 1 })
  await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }])
  for await (const [key, value] of db.iterator({ gt: 'a' })) console.log(key, value.n)
  console.log((await db.get('a'))?.n)
  await db.close()
}

main()
`

const output = 'b 2\n1\n'

test('ES modules and CommonJS use the same class', () => {
  const folder = project('javascript', {
    files: {
      'module.mjs': `import { Level } from 'terrace'\n${program()}`,
      'script.cjs': `const { Level } = require('terrace')\n${program()}`,
      'both.cjs': `
        const { Level, ClassicLevel } = require('terrace')
        import('terrace').then((module) => {
          console.log(module.Level === Level, module.ClassicLevel === ClassicLevel, Level === ClassicLevel)
        })
      `
    }
  })

  expectOutput(folder, 'module.mjs', output)
  expectOutput(folder, 'script.cjs', output)
  expectOutput(folder, 'both.cjs', 'true true true\n')
})

test('the example of the README prints what it says', () => {
  const [, example] = /```js\n(.*?)```/s.exec(
    readFileSync(join(root, 'packages', 'terrace', 'README.md'), 'utf8')
  )
  const folder = project('readme', { files: { 'example.mjs': example } })
  expectOutput(folder, 'example.mjs', "{ colour: 'red' }\nlemon yellow\nplum blue\n")
})

test('TypeScript compiles against the declarations and runs', () => {
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    outDir: 'out',
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')]
  }

  const typed = `import { Level } from 'terrace'\n${program('<string, { n: number }>')}`

  const folder = project('typescript', {
    manifest: { type: 'module' },
    files: {
      'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts', '*.cts'] }),
      'module.ts': typed,
      'script.cts': typed
    }
  })

  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', '.'], {
    cwd: folder,
    encoding: 'utf8'
  })
  assert.equal(stdout, '')
  assert.equal(status, 0)
  expectOutput(folder, join('out', 'module.js'), output)
  expectOutput(folder, join('out', 'script.cjs'), output)
})

test('a library that depends on classic-level runs on it by an override', () => {
  const library = join(scratch, 'library')
  mkdirSync(library)
  const manifest = {
    name: 'uses-classic-level',
    version: '1.0.0',
    dependencies: { 'classic-level': '^3.0.0' }
  }
  writeFileSync(join(library, 'package.json'), JSON.stringify(manifest))

  writeFileSync(
    join(library, 'index.js'),
    `
      const { ClassicLevel } = require('classic-level')
      module.exports = async function (location) {
        const db = new ClassicLevel(location)
        await db.put('a', 'from a library')
        const value = await db.get('a')
        await db.close()
        await ClassicLevel.destroy(location)
        return value
      }
    `
  )

  npm(['pack', library, '--pack-destination', join(scratch, 'packages')], scratch)
  const [main] = packages.filter((archive) => /^terrace-\d/.test(basename(archive)))

  const folder = project('override', {
    archives: [
      join(scratch, 'packages', 'uses-classic-level-1.0.0.tgz'),
      ...packages.filter((each) => each !== main),
      ...dependencies
    ],
    manifest: { overrides: { 'classic-level': `file:${main}` } },
    files: {
      'program.cjs': "require('uses-classic-level')('db').then(console.log)",
      'program.mjs': `
        import { ClassicLevel } from 'classic-level'
        import classic from 'classic-level'
        console.log(ClassicLevel === classic.ClassicLevel)
      `
    }
  })

  expectOutput(folder, 'program.cjs', 'from a library\n')
  expectOutput(folder, 'program.mjs', 'true\n')
})

test('without the package of the platform, the error says what to install', () => {
  const [main] = packages.filter((archive) => /^terrace-\d/.test(basename(archive)))
  const folder = project('incomplete', {
    archives: [main, ...dependencies],
    files: { 'program.mjs': "import('terrace').catch((error) => console.log(error.message))" }
  })

  const { stdout } = spawnSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' })
  assert.match(stdout, new RegExp(`@terrace-db/${process.platform}-${process.arch}`))
  assert.match(stdout, /--omit=optional/)
})

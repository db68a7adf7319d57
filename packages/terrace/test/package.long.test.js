// The packages as npm would publish them, installed into empty projects, and used from ES modules, CommonJS and TypeScript, and
// instead of classic-level. `tests/bundlers` has the programs that load CommonJS in their own ways.
//
// In the full form only: it installs packages, and compiles TypeScript, many times.

import assert from 'node:assert/strict'
import { execFileSync, execSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { packPackage } from '../../../scripts/pack-package.mjs'
import {
  archiveOf,
  environment,
  expectOutput,
  node,
  Projects,
  root
} from '../../../tests/support/projects.mjs'

const require = createRequire(import.meta.url)
const projects = new Projects()
after(() => projects.remove())

let packages
let archives

before(() => {
  packages = projects.pack('packages/terrace')
  archives = projects.archivesOf('packages/terrace')
})

/** A program that uses Level, with `types` after its name in TypeScript. */
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

test('ES modules and CommonJS use the same classes', () => {
  const directory = projects.make('javascript', {
    archives,
    files: {
      'module.mjs': `import { Level } from 'terrace'\n${program()}`,
      'script.cjs': `const { Level } = require('terrace')\n${program()}`,
      'both.cjs': `
        const required = require('terrace')
        import('terrace').then((imported) => {
          const { default: defaults, ...classes } = required
          for (const name in classes) console.log(name, imported[name] === classes[name])
          const ofNode = ['__esModule', 'module.exports']
          console.log(Object.keys(imported).filter((name) => !(name in required) && !ofNode.includes(name)).length)
          console.log(Object.keys(defaults).every((name) => imported.default[name] === defaults[name]))
        })
      `
    }
  })

  expectOutput(directory, 'module.mjs', output)
  expectOutput(directory, 'script.cjs', output)
  expectOutput(
    directory,
    'both.cjs',
    'ChainedBatch true\nSublevel true\nLevel true\nClassicLevel true\nMemoryLevel true\n0\ntrue\n'
  )
})

test('ES modules and CommonJS share the addon: what one has open is open for the other', () => {
  const directory = projects.make('shared', {
    archives,
    files: {
      'program.mjs': `
        import { createRequire } from 'node:module'
        import { Level } from 'terrace'
        const required = createRequire(import.meta.url)('terrace')
        const one = new Level('db', { multithreading: true })
        const other = new required.Level('db', { multithreading: true })
        await one.put('a', 'from one')
        console.log(await other.get('a'))
        await Promise.all([one.close(), other.close()])
        console.log(process.report.getReport().sharedObjects.filter((file) => file.endsWith('.node')).length)
      `
    }
  })
  expectOutput(directory, 'program.mjs', 'from one\n1\n')
})

test('the example of the README prints what it says', () => {
  const [, example] = /```js\n(.*?)```/s.exec(
    readFileSync(join(root, 'packages', 'terrace', 'README.md'), 'utf8')
  )
  const directory = projects.make('readme', { archives, files: { 'example.mjs': example } })
  expectOutput(directory, 'example.mjs', "{ colour: 'red' }\nlemon yellow\nplum blue\n")
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

  const directory = projects.make('typescript', {
    archives,
    manifest: { type: 'module' },
    files: {
      'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts', '*.cts'] }),
      'module.ts': typed,
      'script.cts': typed
    }
  })

  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')
  const { stdout, status } = node(directory, compiler, '-p', '.')
  assert.equal(stdout, '')
  assert.equal(status, 0)
  expectOutput(directory, join('out', 'module.js'), output)
  expectOutput(directory, join('out', 'script.cjs'), output)
})

test('a library that depends on classic-level runs on it by an override', () => {
  const library = join(projects.directory, 'library')
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

  const main = archiveOf(packages, 'terrace')
  const directory = projects.make('override', {
    archives: [...projects.packDirectories([library]), ...archives.filter((archive) => archive !== main)],
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

  expectOutput(directory, 'program.cjs', 'from a library\n')
  expectOutput(directory, 'program.mjs', 'true\n')
})

test('without the package of the platform, the error says what to install', () => {
  const platform = packages.find((archive) => /terrace-db-/.test(archive))
  const directory = projects.make('incomplete', {
    archives: archives.filter((archive) => archive !== platform),
    files: { 'program.mjs': "import('terrace').catch((error) => console.log(error.message))" }
  })

  const { stdout } = node(directory, 'program.mjs')
  assert.match(stdout, new RegExp(`@terrace-db/${process.platform}-${process.arch}`))
  assert.match(stdout, /--omit=optional/)
})

test('two copies of the packages in a process do not disturb each other, also in worker threads', () => {
  const directory = projects.make('copies', {
    archives,
    files: {
      'program.cjs': `
        const { cpSync } = require('node:fs')
        const { Worker, isMainThread, workerData } = require('node:worker_threads')
        if (isMainThread) cpSync('node_modules', 'copy/node_modules', { recursive: true })

        async function use(name) {
          const [one, other] = [require('terrace').Level, require('./copy/node_modules/terrace').Level]
          const [a, b] = [new one(name + '-a'), new other(name + '-b')]
          await Promise.all([a.put('k', 'of one', { sync: true }), b.put('k', 'of the other', { sync: true })])
          const locked = await new other(name + '-a').open().catch((error) => error)
          const found = [one !== other, await a.get('k'), await b.get('k'), locked.cause.code]
          found.push(locked instanceof Error && locked.cause instanceof Error)
          await Promise.all([a.close(), b.close()])
          console.log(name, ...found)
        }

        use(workerData ?? 'main').then(() => isMainThread && new Worker(__filename, { workerData: 'worker' }))
      `
    }
  })
  expectOutput(
    directory,
    'program.cjs',
    ['main', 'worker'].map((name) => `${name} true of one of the other LEVEL_LOCKED true\n`).join('')
  )
})

test('no packed manifest takes any version of what it needs', () => {
  const packed = [...packages, ...projects.pack('packages/toolbox')]
  for (const archive of packed) {
    // By its name alone: GNU tar takes what is before a colon for a host.
    const extracted = execFileSync('tar', ['xfO', basename(archive), 'package/package.json'], {
      cwd: dirname(archive),
      encoding: 'utf8'
    })
    const manifest = JSON.parse(extracted)
    const { dependencies = {}, optionalDependencies = {}, devDependencies } = manifest
    assert.equal(devDependencies, undefined)
    for (const [name, range] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      assert.match(range, /^\^?\d+\.\d+\.\d+$/, `${manifest.name} asks for ${name}`)
    }
  }
  assert.equal(packed.length, 5)
  const loose = (manifest) => ({ ...manifest, dependencies: { 'abstract-level': '*' } })
  assert.throws(
    () => packPackage(join(root, 'packages', 'terrace'), projects.directory, loose),
    /caret range/
  )
})

test('packing as the README says prints a command that installs a package that works', () => {
  const readme = readFileSync(join(root, 'packages', 'terrace', 'README.md'), 'utf8')
  const [command] = /npm run pack --workspace \S+/.exec(readme)
  assert.match(readFileSync(join(root, 'README.md'), 'utf8'), new RegExp(command))
  const printed = execSync(`${command} 2>&1`, { cwd: root, env: environment, encoding: 'utf8' })
  const [, installed] = /^ {2}npm install (.*)$/m.exec(printed)

  const directory = projects.make('packed', {
    archives: [...installed.split(' '), ...projects.externalOf('packages/terrace')],
    files: { 'script.cjs': `const { Level } = require('terrace')\n${program()}` }
  })
  expectOutput(directory, 'script.cjs', output)
})

test('a Node that is too old is told so, and not that a word is unexpected', () => {
  const directory = projects.make('old', {
    archives,
    files: {
      'old.cjs': "Object.defineProperty(process.versions, 'node', { value: '14.21.3' })",
      'module.mjs': "import('terrace').catch((error) => console.log(error.message))",
      'script.cjs': "try { require('terrace') } catch (error) { console.log(error.message) }"
    }
  })
  for (const program of ['module.mjs', 'script.cjs']) {
    const { stdout } = node(directory, '--require', './old.cjs', program)
    assert.match(stdout, /^terrace needs Node\.js 20\.19 or newer\. This is v/)
  }
})

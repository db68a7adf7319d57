// What compilers say of our packages as npm would publish them: TypeScript 5.4, 5.9 and 7, as programs and their settings use them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { backEnds } from '../../../../scripts/back-ends.mjs'
import { packagesIn } from '../../../../scripts/workspace.mjs'
import { environment, Projects, root } from '../../../support/projects.mjs'
import { unpack } from '../../archives.mjs'

const COMPILERS = ['5.4', '5.9', '7']

const RESOLUTIONS = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  // These are programs for Node. Without the condition, a bundler's programs are for pages: tests/bundlers has those.
  bundler: { module: 'esnext', moduleResolution: 'bundler', customConditions: ['node'] }
}

/** The back-ends that are separate packages. */
const stores = backEnds.filter(({ title }) => title !== undefined)

/** What programs import besides our packages. */
const BESIDE = ['@types/node', 'abstract-level', 'classic-level', 'memory-level']

/** Entries that are ES modules alone. Their types are those of a page, where a program has those of the DOM. */
const FOR_PAGES = './browser'

/** Our packages that have types, by name. */
const packages = new Map(
  packagesIn()
    .filter(({ manifest }) => JSON.stringify(manifest.exports).includes('"types"'))
    .map((each) => [each.name, each])
)

const projects = new Projects()
after(() => projects.remove())

/** By the name of a package of ours, the directory where its archive was unpacked. */
const unpacked = new Map()

before(() => {
  const into = join(projects.directory, 'unpacked')
  for (const { directory } of packages.values()) {
    for (const archive of projects.pack(directory)) {
      const { manifest, directory: where } = unpack(archive, into)
      unpacked.set(manifest.name, { manifest, where })
    }
  }
})

/** Makes a project in which these packages of ours are installed, with what they and the programs need. Returns its directory. */
function projectWith(names) {
  const directory = mkdtempSync(join(projects.directory, 'types-'))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const installed = (name) => join(directory, 'node_modules', name)
  const link = (name) => {
    if (existsSync(installed(name))) return
    mkdirSync(dirname(installed(name)), { recursive: true })
    symlinkSync(realpathSync(join(root, 'node_modules', name)), installed(name), 'junction')
  }
  const install = (name) => {
    if (existsSync(installed(name))) return
    const { manifest, where } = unpacked.get(name)
    cpSync(where, installed(name), { recursive: true })
    for (const each of Object.keys(manifest.dependencies ?? {}))
      unpacked.has(each) ? install(each) : link(each)
  }
  for (const name of names) install(name)
  for (const name of BESIDE) link(name)
  return directory
}

/** What a compiler finds wrong with the programs in a project. */
function errorsOf(compiler, directory, options) {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    noEmit: true,
    ...RESOLUTIONS.node16,
    ...options
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const tsc = fileURLToPath(new URL(`../node_modules/typescript-${compiler}/bin/tsc`, import.meta.url))
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, '--project', directory], {
    cwd: directory,
    encoding: 'utf8',
    env: environment
  })
  assert.ok(status === 0 || stdout !== '', `the compiler must run: ${stderr}`)
  return stdout
}

/** Writes modules that load every entry of a package, as an ES module and as CommonJS. */
function writeEntries(name, directory) {
  const entries = Object.keys(packages.get(name).manifest.exports)
  const loaded = entries.filter((each) => each !== FOR_PAGES && each !== './package.json')
  assert.notEqual(loaded.length, 0)
  const text = loaded.map((each, i) => `export * as entry${i} from '${name}${each.slice(1)}'\n`).join('')
  writeFileSync(join(directory, 'entries.mts'), text)
  writeFileSync(join(directory, 'entries.cts'), text)
}

test('every package that has types has programs that use them', () => {
  const without = [...packages.values()].filter(
    ({ directory }) => !existsSync(join(root, directory, 'test', 'types'))
  )
  assert.deepEqual(without, [])
})

for (const compiler of COMPILERS) {
  for (const resolution of Object.keys(RESOLUTIONS)) {
    for (const skipLibCheck of [true, false]) {
      test(`programs compile with TypeScript ${compiler}, ${resolution}, skipLibCheck ${skipLibCheck}`, () => {
        const directory = projectWith(packages.keys())
        for (const [name, { directory: from }] of packages) {
          cpSync(join(root, from, 'test', 'types'), join(directory, 'src', name), { recursive: true })
          writeEntries(name, join(directory, 'src', name))
        }
        assert.equal(errorsOf(compiler, directory, { ...RESOLUTIONS[resolution], skipLibCheck }), '')
      })
    }
  }
}

test('the types of each package need nothing but what it depends on', () => {
  for (const name of packages.keys()) {
    const directory = projectWith([name])
    mkdirSync(join(directory, 'src'))
    writeEntries(name, join(directory, 'src'))
    assert.equal(errorsOf('7', directory, { skipLibCheck: false }), '', name)
  }
})

// Older compilers find no ClassicLevel an AbstractLevel, with or without our types.
test('a ClassicLevel is an AbstractLevel to TypeScript 7 after each of our databases was one', () => {
  const directory = projectWith(packages.keys())
  mkdirSync(join(directory, 'src'))
  const databases = [
    `new Level('a')`,
    `new Level('a').sublevel('b')`,
    'new MemoryLevel()',
    `new NetLevel('unix:a')`,
    ...stores.map((each) => `new ${each.class}('a')`),
    `ttl(new Level('a'))`
  ]
  const uses = ['const first: Any =', 'void typed', 'createServer']
  for (const database of databases) {
    for (const use of uses) {
      const program = `
        import { AbstractLevel } from 'abstract-level'
        import { ClassicLevel } from 'classic-level'
        import { Level, MemoryLevel } from 'terrace'
        ${stores.map((each) => `import { ${each.class} } from '${each.package}'`).join('\n')}
        import { NetLevel } from 'terrace-net'
        import { createServer } from 'terrace-net/server'
        import { ttl } from 'terrace-toolbox/ttl'
        type Any = AbstractLevel<any, any, any>
        declare function typed<K, V>(db: AbstractLevel<any, K, V>): V
        ${use}(${database})
        const any: Any = new ClassicLevel('a')
        const strings: AbstractLevel<string | Buffer | Uint8Array, string, string> = new ClassicLevel('a')
        const number: number = typed(new ClassicLevel<string, number>('a'))
        createServer(new ClassicLevel('a'))
        export { any, number, strings }
      `
      writeFileSync(join(directory, 'src', 'program.ts'), program)
      assert.equal(errorsOf('7', directory, { skipLibCheck: true }), '', `${use}(${database})`)
    }
  }
})

// What is in each package that npm would publish: nothing that a user has no use for, and nothing missing.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { before, test } from 'node:test'
import { packPackage } from '../../scripts/pack-package.mjs'
import { KINDS } from '../../scripts/publish.mjs'
import { root } from '../support/projects.mjs'
import { directories, isWorkshop, packAll, unpack } from './archives.mjs'

const PLATFORM = /^@terrace-db\//

let packages
let libraries
before((t) => {
  packages = packAll(t)
  libraries = packages.filter(({ manifest }) => !PLATFORM.test(manifest.name))
})

/** Asserts that `problemsOf` finds no problem in any of `packages`. */
function expectNone(packages, problemsOf) {
  assert.deepEqual(
    packages.flatMap((each) => problemsOf(each).map((problem) => `${each.manifest.name}: ${problem}`)),
    []
  )
}

test('every package of the workspace is packed, and that of this platform', () => {
  assert.equal(libraries.length, directories.length)
  assert.ok(packages.length > libraries.length)
})

test('an archive has the name by which it is published', () => {
  const published = new Map(KINDS.npm.packages().map(({ name, file }) => [name, basename(file)]))
  expectNone(packages, ({ archive, manifest }) =>
    basename(archive) === published.get(manifest.name) ? [] : [basename(archive)]
  )
})

test('no stray file is in a package', () => {
  const expected = /^(package\.json|back-ends\.json|README\.md|LICENSE|dist\/.*\.(js|mjs|d\.ts|d\.mts))$/
  const binary =
    /^(THIRD-PARTY-LICENSES\.txt|dist\/browser\/(package\.json|licences\.txt|terrace(-memory)?\.wasm))$/
  const platform = /^(package\.json|README\.md|LICENSE|THIRD-PARTY-LICENSES\.txt|terrace(\.node|\.exe)?)$/
  const workshop =
    /^(package\.json|README\.md|LICENSE|workshop\.json|main\.mjs|(checks|support)\/.*\.mjs|exercises\/(?!.*\/wrong\/).*\.(mjs|md))$/
  expectNone(packages, (each) =>
    each.files.filter((file) => {
      if (isWorkshop(each)) return !workshop.test(file)
      if (PLATFORM.test(each.manifest.name)) return !platform.test(file)
      return !expected.test(file) && !binary.test(file)
    })
  )
})

test('what a removed source was built into is not packed', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-stale-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const each of ['src', 'dist']) mkdirSync(join(directory, each))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'stale', version: '1.0.0' }))
  const files = [
    'README.md',
    'src/kept.ts',
    'dist/kept.js',
    'dist/kept.d.ts',
    'dist/removed.js',
    'dist/removed.d.ts'
  ]
  for (const file of files) writeFileSync(join(directory, file), '')

  const { files: packed } = unpack(packPackage(directory, directory), join(directory, 'unpacked'))
  assert.deepEqual(packed, ['LICENSE', 'README.md', 'dist/kept.d.ts', 'dist/kept.js', 'package.json'])
})

test('every module has its types, and no source map is missing', () => {
  const imported = libraries.filter((each) => !isWorkshop(each))
  expectNone(imported, ({ files, read }) => {
    const modules = files.filter((file) => /\.m?js$/.test(file) && !file.startsWith('dist/browser/'))
    const untyped = modules.filter((file) => !files.includes(file.replace(/\.(m?)js$/, '.d.$1ts')))
    const mapped = files.filter(
      (file) => /\.(m?js|m?ts)$/.test(file) && /^\/\/# sourceMappingURL=/m.test(read(file))
    )
    return [...untyped, ...mapped]
  })
})

test('every package has the licence, and says what it is', () => {
  const licence = readFileSync(join(root, 'LICENSE'), 'utf8')
  const { version } = libraries.find(({ manifest }) => manifest.name === 'terrace').manifest
  expectNone(packages, ({ files, manifest, read }) => {
    const problems = []
    if (read('LICENSE') !== licence) problems.push('LICENSE differs')
    if (manifest.license !== 'MIT') problems.push('license')
    if (manifest.version !== version) problems.push('version')
    if (manifest.engines?.node !== '>=20.19') problems.push('engines')
    if (!(manifest.description?.length > 20)) problems.push('description')
    if (!Array.isArray(manifest.files)) problems.push('files')
    for (const field of ['scripts', 'devDependencies', 'private']) {
      if (field in manifest) problems.push(field)
    }
    if (PLATFORM.test(manifest.name)) return problems
    if (!(manifest.keywords?.length > 2)) problems.push('keywords')
    if (!files.includes('README.md') || !read('README.md').startsWith(`# ${manifest.name}`))
      problems.push('README.md')
    return problems
  })
})

test('exports have types for import and require, and everything that a manifest names is there', () => {
  expectNone(libraries, ({ files, manifest, read }) => {
    const problems = []
    const isThere = (target) => files.includes(target.replace(/^\.\//, ''))
    const targets = [manifest.main, manifest.types, ...Object.values(manifest.bin ?? {})]
    targets.push(...Object.values(manifest.typesVersions?.['*'] ?? {}).flat())
    for (const [entry, conditions] of Object.entries(manifest.exports)) {
      targets.push(...leaves(conditions))
      // A page's module is an ES module alone.
      const kinds = entry === './browser' ? [conditions] : [conditions.import, conditions.require]
      // leveldown's own manifest can be required without its extension.
      if (conditions === './package.json') continue
      for (const kind of kinds) {
        if (Object.keys(kind ?? {})[0] !== 'types') problems.push(`${entry} has no types first`)
      }
    }
    for (const target of targets) {
      if (target !== undefined && !isThere(target)) problems.push(`${target} is missing`)
    }
    for (const program of Object.values(manifest.bin ?? {})) {
      if (!read(program).startsWith('#!/usr/bin/env node\n')) problems.push(`${program} has no #! line`)
    }
    return problems
  })
})

test('a package asks for what is native of every platform, at its own version', () => {
  const isOfProgram = (name) => name.startsWith('@terrace-db/cli-')
  for (const name of ['terrace', 'terrace-cli']) {
    const isOwn = (platform) => PLATFORM.test(platform) && isOfProgram(platform) === (name === 'terrace-cli')
    const { manifest } = libraries.find((each) => each.manifest.name === name)
    const built = packages.filter((each) => isOwn(each.manifest.name))
    assert.equal(built.length, 1)
    for (const { manifest: platform } of built) {
      assert.equal(manifest.optionalDependencies[platform.name], platform.version)
    }
    assert.ok(Object.keys(manifest.optionalDependencies).every(isOwn))
  }
})

test('a workshop is packed with all of its exercises', () => {
  const workshops = libraries.filter(isWorkshop)
  assert.ok(workshops.length > 0)
  expectNone(workshops, ({ files, read }) => {
    const { exercises } = JSON.parse(read('workshop.json'))
    const parts = exercises.flatMap((name) =>
      ['problem.en.md', 'problem.de.md', 'check.mjs'].map((part) => `exercises/${name}/${part}`)
    )
    return parts.filter((part) => !files.includes(part)).map((part) => `${part} is missing`)
  })
})

test('a program may be executed', () => {
  const programs = packages.filter(({ manifest }) => manifest.name.startsWith('@terrace-db/cli-'))
  assert.equal(programs.length, 1)
  expectNone(programs, ({ directory, manifest }) =>
    manifest.files
      .filter((file) => file.startsWith('terrace'))
      .filter((file) => (statSync(join(directory, file)).mode & 0o111) !== 0o111)
  )
})

test('the licences of what is linked into a binary are beside it, and up to date', () => {
  const withBinaries = packages.filter(({ files }) =>
    files.some((file) => /\.(node|wasm|exe)$|^terrace$/.test(file))
  )
  assert.ok(withBinaries.length > 2)
  expectNone(withBinaries, ({ files }) =>
    files.includes('THIRD-PARTY-LICENSES.txt') ? [] : ['no THIRD-PARTY-LICENSES.txt']
  )
  execFileSync(process.execPath, [join(root, 'scripts', 'third-party-licences.mjs'), '--check'], {
    stdio: 'pipe'
  })
})

function leaves(conditions) {
  return typeof conditions === 'string' ? [conditions] : Object.values(conditions).flatMap(leaves)
}

// Bundles of esbuild. The addon is not part of a bundle: it is found in `node_modules` or next to the bundle, or else the error
// names the remedy.

import assert from 'node:assert/strict'
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { BUILDS } from '../../../packages/terrace/dist/platform.js'
import { expectOutput, node, Projects, root } from '../../support/projects.mjs'
import { OUTPUT, program } from './support/program.js'
import { makeProject } from './support/project.js'

const { buildSync } = createRequire(import.meta.url)('esbuild')
const projects = new Projects()
after(() => projects.remove())

let directory
before(() => {
  directory = makeProject(projects, {
    'program.js': program(),
    // A bundle of mixed sources.
    'mixed.js': `
      import { Level } from 'terrace'
      import { upper, encode } from 'terrace-bytewise'
      console.log(require('terrace').Level === Level)
      console.log(require('terrace-bytewise').encode([upper('a')]).length === encode([upper('a')]).length)
    `
  })
})
beforeEach(() => rmSync(join(directory, 'db'), { recursive: true, force: true }))

/** Gives an ES module what the CommonJS code in it asks for, as the README advises. */
const [, js] = /--banner:js="(.*?)"/.exec(
  readFileSync(join(root, 'packages', 'terrace', 'README.md'), 'utf8')
)
const BANNER = { js }

/** The same without `__filename`, as esbuild's documentation advises. */
const NAMELESS = { js: js.replace(/, __filename = .*/, '') }

/** Makes a bundle, without a warning. Returns its path. */
function bundle(name, options, source = 'program.js') {
  const outfile = join(directory, 'out', name)
  const { warnings } = buildSync({
    absWorkingDir: directory,
    entryPoints: [source],
    bundle: true,
    platform: 'node',
    logLevel: 'silent',
    outfile,
    ...options
  })
  assert.deepEqual(warnings, [])
  return outfile
}

test('a bundle in format cjs', () => {
  expectOutput(directory, bundle('bundle.cjs', { format: 'cjs' }), OUTPUT)
})

test('a minified bundle in format cjs', () => {
  expectOutput(directory, bundle('minified.cjs', { format: 'cjs', minify: true }), OUTPUT)
})

test('bundles that leave the packages out', () => {
  const external = ['terrace', 'terrace-bytewise', 'terrace-toolbox/*']
  expectOutput(directory, bundle('external.cjs', { format: 'cjs', external }), OUTPUT)
  rmSync(join(directory, 'db'), { recursive: true })
  expectOutput(directory, bundle('external.mjs', { format: 'esm', external }), OUTPUT)
})

test('a bundle in format esm, with the banner that CommonJS in it needs', () => {
  expectOutput(directory, bundle('bundle.mjs', { format: 'esm', banner: BANNER }), OUTPUT)
})

test('import and require of a bundle meet in one package', () => {
  expectOutput(directory, bundle('mixed.cjs', { format: 'cjs' }, 'mixed.js'), 'true\ntrue\n')
})

test('a bundle of terrace-bytewise for browsers has no CommonJS in it', () => {
  const source = "import { decode, encode } from 'terrace-bytewise'\nconsole.log(decode(encode(['a', 1])))"
  const { outputFiles } = buildSync({
    stdin: { contents: source, resolveDir: directory },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false
  })
  assert.doesNotMatch(outputFiles[0].text, /__commonJS|require/)
})

/** A directory with a bundle in it that knows no file name, and the URL of that bundle. */
function namelessBundle(name) {
  const away = join(projects.directory, name)
  mkdirSync(away)
  cpSync(bundle('nameless.mjs', { format: 'esm', banner: NAMELESS }), join(away, 'nameless.mjs'))
  return { away, load: `import(${JSON.stringify(pathToFileURL(join(away, 'nameless.mjs')).href)})` }
}

test('a bundle in format esm that knows no file name finds what is beside it when it is started', () => {
  assert.doesNotMatch(NAMELESS.js, /__filename/)
  expectOutput(directory, bundle('nameless.mjs', { format: 'esm', banner: NAMELESS }), OUTPUT)
})

test('an addon that was planted in the working directory is not loaded by a bundle that is not the program', () => {
  const { away, load } = namelessBundle('loaded')
  const planted = join(projects.directory, 'planted')
  const code = "console.log('planted')"
  for (const name of BUILDS) {
    const installed = join(planted, 'node_modules', '@terrace-db', name)
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'index.js'), code)
    writeFileSync(join(planted, `terrace.${name}.node`), 'planted')
  }
  for (const argument of [[], ['planted.txt']]) {
    const { status, stdout, stderr } = node(planted, '--input-type=module', '--eval', load, ...argument)
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
    assert.match(stderr, /is missing\. It comes with the optional package/)
  }
  rmSync(away, { recursive: true })
})

test('a bundle after which a flag or a relative path is named says what to do, and not ERR_INVALID_ARG_VALUE', () => {
  const { away, load } = namelessBundle('flagged')
  for (const argument of ['--flag', 'relative.txt']) {
    const { stderr } = node(away, '--input-type=module', '--eval', load, '--', argument)
    assert.match(stderr, /--external:terrace.*banner of terrace's README/)
    assert.doesNotMatch(stderr, /ERR_INVALID_ARG_VALUE/)
  }
})

for (const [format, options] of Object.entries({ cjs: {}, esm: { banner: BANNER } })) {
  test(`a bundle in format ${format} that finds no addon says what to do, and that helps`, () => {
    const away = join(projects.directory, `away-${format}`)
    mkdirSync(away)
    const name = `bundle.${format === 'cjs' ? 'cjs' : 'mjs'}`
    cpSync(bundle(name, { format, ...options }), join(away, name))

    const { status, stderr } = node(away, name)
    assert.equal(status, 1)
    assert.match(stderr, /--external:terrace/)
    const [, addon] = /beside the bundle as (terrace\.[\w-]+\.node)/.exec(stderr)
    const platform = addon.slice('terrace.'.length, -'.node'.length)
    copyFileSync(join(directory, 'node_modules', '@terrace-db', platform, 'terrace.node'), join(away, addon))
    expectOutput(away, name, OUTPUT)
  })
}

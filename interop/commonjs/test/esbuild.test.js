// Bundles of esbuild. The addon is not part of a bundle: it is found in `node_modules` or next to the bundle, or else the error
// says what to do.

import assert from 'node:assert/strict'
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { expectOutput, node, Projects } from '../../../tests/support/projects.mjs'
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

/** Gives an ES module what the CommonJS code in it asks for, as esbuild's documentation advises. */
const BANNER = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
}

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

// Bundles of webpack and Vite for Node. As in esbuild's, the addon is not part of a bundle: it is found in `node_modules` where the
// package is left out, and beside the bundle where it was copied there.

import assert from 'node:assert/strict'
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { build } from 'vite'
import { expectOutput, node, Projects } from '../../support/projects.mjs'
import { OUTPUT, program } from './support/program.js'
import { makeProject } from './support/project.js'

const webpack = createRequire(import.meta.url)('webpack')
const projects = new Projects()
after(() => projects.remove())

let directory
before(() => {
  directory = makeProject(projects, { 'program.js': program() })
})
beforeEach(() => rmSync(join(directory, 'db'), { recursive: true, force: true }))

const PACKAGES = ['terrace', 'terrace-bytewise', 'terrace-toolbox/index']

/** Each makes a bundle of `program.js`, with the packages in it or left out, and returns its path. */
const bundlers = {
  async webpack(isExternal) {
    const path = join(directory, 'webpack', isExternal ? 'external' : 'whole')
    const stats = await run({
      context: directory,
      entry: './program.js',
      mode: 'production',
      target: 'node20',
      externals: isExternal ? Object.fromEntries(PACKAGES.map((name) => [name, `commonjs ${name}`])) : {},
      output: { path, filename: 'bundle.cjs' }
    })
    const { errors, warnings } = stats.toJson({ all: false, warnings: true, errors: true })
    assert.deepEqual(errors, [])
    // The package that only shared databases need is not installed here. webpack warns about that and continues.
    const others = warnings.filter(({ message }) => !message.includes("Can't resolve 'terrace-net/shared'"))
    assert.deepEqual(others, [])
    return join(path, 'bundle.cjs')
  },

  async Vite(isExternal) {
    const outDir = join(directory, 'vite', isExternal ? 'external' : 'whole')
    await build({
      root: directory,
      logLevel: 'error',
      ssr: isExternal ? { external: true } : { noExternal: true },
      build: {
        ssr: 'program.js',
        outDir,
        rollupOptions: { output: { format: 'es', entryFileNames: 'bundle.mjs' } }
      }
    })
    return join(outDir, 'bundle.mjs')
  }
}

function run(configuration) {
  return new Promise((resolve, reject) => {
    webpack(configuration, (error, stats) => (error ? reject(error) : resolve(stats)))
  })
}

for (const [name, bundle] of Object.entries(bundlers)) {
  test(`a bundle of ${name} that leaves the packages out finds the addon in node_modules`, async () => {
    expectOutput(directory, await bundle(true), OUTPUT)
  })

  test(`a bundle of ${name} finds the addon in node_modules above it, and beside it`, async () => {
    const file = await bundle(false)
    expectOutput(directory, file, OUTPUT)

    const away = join(projects.directory, `away-${name}`)
    mkdirSync(away)
    cpSync(dirname(file), away, { recursive: true })
    const moved = join(away, file.slice(dirname(file).length + 1))
    const { status, stderr } = node(away, moved)
    assert.equal(status, 1)
    const [, addon] = /beside the bundle as (terrace\.[\w-]+\.node)/.exec(stderr)
    const platform = addon.slice('terrace.'.length, -'.node'.length)
    copyFileSync(join(directory, 'node_modules', '@terrace-db', platform, 'terrace.node'), join(away, addon))
    expectOutput(away, moved, OUTPUT)
  })
}

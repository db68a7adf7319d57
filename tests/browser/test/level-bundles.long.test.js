// Level and MemoryLevel in programs for pages, bundled by esbuild, Vite and webpack without a plugin, from the archives that `npm run pack`
// makes.
//
// Long: packs and installs our packages, and runs bundlers.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { promisify } from 'node:util'
import { build as buildWithEsbuild } from 'esbuild'
import { build as buildWithVite } from 'vite'
import webpack from 'webpack'
import { Projects } from '../../support/projects.mjs'
import { useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { PROGRAM, RESULT } from './support/memory-program.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'

const openPage = useBrowser()
const projects = new Projects()
after(() => projects.remove())

let directory
before(() => {
  directory = projects.make('pages', {
    archives: projects.archivesOf('packages/terrace'),
    files: {
      'use.js': PROGRAM,
      'program.js': `
        import { Level, MemoryLevel } from 'terrace'
        import { use } from './use.js'
        globalThis.run = () => use(MemoryLevel)
        globalThis.open = (location) => {
          globalThis.db = new Level(location)
          return globalThis.db.open()
        }
      `,
      'index.html': '<script type="module" src="/program.js"></script>'
    }
  })
})

/** Everything that a bundler has made. */
function made(folder, path) {
  const directoryOfBundles = join(directory, folder)
  return Object.fromEntries(
    readdirSync(directoryOfBundles).map((name) => [
      `${path}${name}`,
      readFileSync(join(directoryOfBundles, name))
    ])
  )
}

/** Each returns the files to serve, and which of them is the script. */
const bundlers = {
  // The files that the script starts are copied from the package, as docs/browser.md describes.
  async esbuild() {
    const { outputFiles, warnings } = await buildWithEsbuild({
      absWorkingDir: directory,
      entryPoints: ['program.js'],
      bundle: true,
      format: 'esm',
      write: false,
      logLevel: 'silent'
    })
    assert.deepEqual(warnings, [])
    return {
      script: '/terrace/program.js',
      files: { ...engineFiles, '/terrace/program.js': outputFiles[0].text }
    }
  },
  async Vite() {
    await buildWithVite({ root: directory, logLevel: 'error', build: { emptyOutDir: true } })
    const files = made('dist/assets', '/assets/')
    const script = Object.keys(files).find((path) => /\/index-.*\.js$/.test(path))
    return { script, files }
  },
  async webpack() {
    const stats = await promisify(webpack)({
      context: directory,
      mode: 'production',
      entry: './program.js',
      output: { path: join(directory, 'webpack'), filename: 'program.js' }
    })
    const { errors } = stats.toJson({ all: false, errors: true })
    assert.deepEqual(errors, [])
    return { script: '/program.js', files: made('webpack', '/') }
  }
}

for (const [name, bundle] of Object.entries(bundlers)) {
  test(`a bundle of ${name} works in pages, which share a database`, async (t) => {
    const { script, files } = await bundle()
    const origin = await serveSite(t, files, ENGINE_POLICY)
    const pages = [await openPage(t, origin), await openPage(t, origin)]
    for (const page of pages) await page.addScriptTag({ url: script, type: 'module' })
    assert.deepEqual(await pages[0].evaluate(() => globalThis.run()), RESULT)

    for (const page of pages) await page.evaluate((name) => globalThis.open(name), name)
    await pages[1].evaluate(() => globalThis.db.put('key', 'value'))
    const seen = await pages[0].evaluate(async () => [await globalThis.db.get('key'), globalThis.db.storage])
    assert.deepEqual(seen, ['value', 'opfs'])
    const owners = await Promise.all(pages.map((page) => page.evaluate(() => globalThis.db.isOwner)))
    assert.deepEqual(owners, [true, false])
    for (const { problems } of pages) assert.deepEqual(problems, [])
  })
}

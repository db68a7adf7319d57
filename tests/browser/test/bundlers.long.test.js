// Programs for pages, bundled by esbuild and by Vite without a plugin, in a project where our packages are installed as npm would
// publish them.
//
// Long: packs and installs our packages, and runs bundlers.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { build as buildWithEsbuild } from 'esbuild'
import { build as buildWithVite } from 'vite'
import { Projects } from '../../support/projects.mjs'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { serve } from './support/served.js'
import { serveSite } from './support/site.js'

const PROGRAM = `
  import { Buffer } from 'buffer'
  import { NetLevel } from 'terrace-net'

  globalThis.run = async (address) => {
    const db = new NetLevel(address, { valueEncoding: 'json' })
    // Buffers of a page are those of the package \`buffer\`.
    await db.put(Buffer.from([0, 255]), Buffer.from('a buffer'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await db.put('b', { n: 1 })
    const result = [
      await db.get(Uint8Array.of(0, 255), { keyEncoding: 'view', valueEncoding: 'utf8' }),
      await db.get('b')
    ]
    await db.close()
    return result
  }
`

const openPage = useBrowser()
const projects = new Projects()
after(() => projects.remove())

let directory
before(() => {
  directory = projects.make('pages', {
    archives: projects.archivesOf('packages/net'),
    files: { 'program.js': PROGRAM, 'index.html': '<script type="module" src="/program.js"></script>' }
  })
})

const bundlers = {
  async esbuild(minify) {
    const { outputFiles, warnings } = await buildWithEsbuild({
      absWorkingDir: directory,
      entryPoints: ['program.js'],
      bundle: true,
      format: 'esm',
      minify,
      write: false,
      logLevel: 'silent'
    })
    assert.deepEqual(warnings, [])
    return outputFiles[0].text
  },
  async Vite(minify) {
    await buildWithVite({ root: directory, logLevel: 'error', build: { minify, emptyOutDir: true } })
    const assets = join(directory, 'dist', 'assets')
    const [script, ...others] = readdirSync(assets)
    assert.deepEqual(others, [])
    return readFileSync(join(assets, script), 'utf8')
  }
}

for (const [name, bundle] of Object.entries(bundlers)) {
  for (const minify of [false, true]) {
    test(`a bundle of ${name}${minify ? ', minified,' : ''} works in a page`, async (t) => {
      const origin = await serveSite(t, { '/bundle.js': await bundle(minify) })
      const { address } = await serve(t, { origins: [origin] })
      const page = await openPage(t, origin)
      await page.addScriptTag({ url: '/bundle.js', type: 'module' })
      assert.deepEqual(await page.evaluate((address) => globalThis.run(address), address), [
        'a buffer',
        { n: 1 }
      ])
      assert.deepEqual(page.problems, [])
    })
  }
}

// Makes a package one module, which a page can import without a bundler, and each script that it starts another. The licences of everything
// in them are beside them.
//
//   node scripts/bundle.mjs PACKAGE

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licencesOf } from './licences.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Sources are modules, of which a script gets only those that it uses. What is built from them is CommonJS. */
const CORE_SOURCES = { 'terrace-core': join(root, 'packages', 'core', 'src', 'index.ts') }

/** The bundles of each package: where they go in `dist`, what they consist of, and where that is. */
const BUNDLES = {
  net: {
    directory: 'dist',
    scripts: { 'browser/terrace-net.js': "export { NetLevel } from './client/index.js'" }
  },
  terrace: {
    directory: 'src',
    alias: CORE_SOURCES,
    scripts: {
      'browser/terrace.js': "export { Level, MemoryLevel } from './browser/index.js'",
      'browser/worker.js': "import './browser/page/worker.js'",
      'browser/broker.js': "import './browser/page/broker.js'"
    }
  }
}

const [wanted] = process.argv.slice(2)
if (BUNDLES[wanted] === undefined) {
  console.error(`usage: node scripts/bundle.mjs ${Object.keys(BUNDLES).join('|')}`)
  process.exit(2)
}
await bundle(wanted, BUNDLES[wanted])

async function bundle(name, { directory, alias = {}, scripts }) {
  const packageDirectory = join(root, 'packages', name)
  const dist = join(packageDirectory, 'dist')
  const manifest = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'))
  const metafiles = []
  for (const [to, contents] of Object.entries(scripts)) {
    const { metafile } = await build({
      stdin: { contents, resolveDir: join(packageDirectory, directory) },
      absWorkingDir: root,
      outfile: join(dist, to),
      bundle: true,
      alias,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      minify: true,
      banner: { js: `/*! ${manifest.name} and what it needs. Their licences: licences.txt */` },
      metafile: true,
      logLevel: 'warning'
    })
    metafiles.push(metafile)
  }

  const target = join(dist, 'browser')
  writeFileSync(join(target, 'licences.txt'), licencesOf(root, metafiles).join('\n---\n\n'))
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ type: 'module' })}\n`)
}

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

/** The bundles of each package: where they go, and what they consist of. */
const BUNDLES = {
  net: { 'browser/terrace-net.js': "export { NetLevel } from './client/index.js'" },
  terrace: {
    'browser/terrace.js': "export { Level, MemoryLevel } from './browser/index.js'",
    'browser/worker.js': "import './browser/page/worker.js'",
    'browser/broker.js': "import './browser/page/broker.js'"
  }
}

const [wanted] = process.argv.slice(2)
if (BUNDLES[wanted] === undefined) {
  console.error(`usage: node scripts/bundle.mjs ${Object.keys(BUNDLES).join('|')}`)
  process.exit(2)
}
await bundle(wanted, BUNDLES[wanted])

async function bundle(directory, bundles) {
  const dist = join(root, 'packages', directory, 'dist')
  const manifest = JSON.parse(readFileSync(join(dist, '..', 'package.json'), 'utf8'))
  const metafiles = []
  for (const [to, contents] of Object.entries(bundles)) {
    const { metafile } = await build({
      stdin: { contents, resolveDir: dist },
      absWorkingDir: root,
      outfile: join(dist, to),
      bundle: true,
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

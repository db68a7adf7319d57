// Makes a package one module, which a page can import without a bundler, with the licences of everything in it beside it.
//
//   node scripts/bundle.mjs PACKAGE

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licencesOf } from './licences.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What the bundle of each package exports, from which of its modules, and where it goes. */
const BUNDLES = {
  net: { names: 'NetLevel', from: 'client/index.js', to: 'browser/terrace-net.js' },
  terrace: { names: 'Level, MemoryLevel', from: 'browser/index.js', to: 'browser/terrace.js' }
}

const [wanted] = process.argv.slice(2)
if (BUNDLES[wanted] === undefined) {
  console.error(`usage: node scripts/bundle.mjs ${Object.keys(BUNDLES).join('|')}`)
  process.exit(2)
}
await bundle(wanted, BUNDLES[wanted])

async function bundle(directory, { names, from, to }) {
  const dist = join(root, 'packages', directory, 'dist')
  const manifest = JSON.parse(readFileSync(join(dist, '..', 'package.json'), 'utf8'))
  const { metafile } = await build({
    stdin: { contents: `export { ${names} } from './${from}'`, resolveDir: dist },
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

  const target = join(dist, dirname(to))
  const licences = licencesOf(root, metafile)
  writeFileSync(join(target, 'licences.txt'), licences.join('\n---\n\n'))
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ type: 'module' })}\n`)
}

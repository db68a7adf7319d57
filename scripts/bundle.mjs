// Makes a package one module, which a page can import without a bundler, and each script that it starts another. The licences of everything
// in them are beside them.
//
//   node scripts/bundle.mjs PACKAGE

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { BUNDLES } from './bundles.mjs'
import { licencesOf } from './licences.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

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

// Makes a package one module, which a page can import without a bundler, and each script that it starts another. The licences of everything
// in them are beside them.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { BUNDLES } from './bundles.mjs'
import { licencesOf } from './licences.mjs'
import { root } from './workspace.mjs'

/** What decides about every bundle besides its modules. */
const ALWAYS = ['package-lock.json', 'scripts/bundle.mjs', 'scripts/bundles.mjs', 'scripts/licences.mjs']

/** Makes the bundles of a package, unless they are up to date. */
export async function bundle(name) {
  const { directory, alias = {}, scripts, apart = {} } = BUNDLES[name]
  const packageDirectory = join(root, 'packages', name)
  const dist = join(packageDirectory, 'dist')
  // What they were made of, and how that was.
  const record = join(dist, 'browser', '.inputs.json')
  const licences = join(dist, 'browser', 'licences.txt')
  const outputs = [licences, ...Object.keys(scripts).map((to) => join(dist, to))]
  if (outputs.every(existsSync) && isCurrent(record)) return

  const manifest = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'))
  const metafiles = []
  for (const [to, contents] of Object.entries(scripts)) {
    const { metafile } = await build({
      stdin: { contents, resolveDir: join(packageDirectory, directory) },
      absWorkingDir: root,
      outfile: join(dist, to),
      bundle: true,
      alias,
      plugins: [leavingApart(apart[to] ?? {})],
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
  writeFileSync(licences, licencesOf(root, metafiles).join('\n---\n\n'))
  const modules = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .filter((file) => !file.endsWith('<stdin>'))
  const inputs = [...new Set([...ALWAYS, `packages/${name}/package.json`, ...modules])]
  writeFileSync(record, JSON.stringify(Object.fromEntries(inputs.map((file) => [file, stateOf(file)]))))
  console.log(`built ${outputs.slice(1).join(', ')}`)
}

/** Leaves out what is imported dynamically by these names, and names the scripts to load instead. */
function leavingApart(scripts) {
  return {
    name: 'apart',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^[.]/ }, ({ kind, path }) =>
        kind === 'dynamic-import' && path in scripts ? { path: scripts[path], external: true } : undefined
      )
  }
}

function isCurrent(record) {
  if (!existsSync(record)) return false
  const inputs = JSON.parse(readFileSync(record, 'utf8'))
  return Object.entries(inputs).every(([file, state]) => stateOf(file) === state)
}

/** What changes when a file does. */
function stateOf(file) {
  const stats = statSync(join(root, file), { throwIfNoEntry: false })
  return `${stats?.size} ${stats?.mtimeMs}`
}

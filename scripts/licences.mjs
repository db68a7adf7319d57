// The licences of the packages that bundles of esbuild are made of.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The texts, one for each package in `node_modules` that is part of a bundle.
 *
 * @param root - What the paths of the bundles' inputs begin at.
 * @param metafiles - What esbuild says of each bundle.
 */
export function licencesOf(root, metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs))
  const directories = inputs.flatMap((file) => file.match(/^.*node_modules\/[^/]+/) ?? [])
  return [...new Set(directories)].sort().map((directory) => licenceOf(join(root, directory)))
}

function licenceOf(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const file = ['LICENSE', 'LICENSE.md'].map((each) => join(directory, each)).find(existsSync)
  if (file === undefined) throw new Error(`${name} has no file with its licence`)
  return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`
}

// Packs every package of the workspace into a directory, those of the platforms that were built included. Prints the paths of the archives,
// those first that others need.
//
//   node scripts/pack-all.mjs DIRECTORY

import { relative } from 'node:path'
import { builtPlatforms, pack } from './pack.mjs'
import { packagesIn } from './workspace.mjs'

const [target] = process.argv.slice(2)
if (target === undefined) {
  console.error('usage: node scripts/pack-all.mjs DIRECTORY')
  process.exit(2)
}
const archives = packagesIn().flatMap(({ directory }) => pack(directory, target, builtPlatforms))
for (const archive of new Set(archives)) console.log(relative('.', archive))

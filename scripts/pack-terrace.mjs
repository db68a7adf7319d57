// Packs the package `terrace`, and the package of each platform whose addon was built here, as npm would publish them.
//
//   node scripts/pack-terrace.mjs FOLDER     prints the paths of the archives
//
// The packages of the platforms are optional dependencies of the published package only: in a checkout, where they
// are not published yet, npm must not look for them.

import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packPackage, packStage } from './pack-package.mjs'

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), '..', 'packages', 'terrace')

/** Packs both kinds of package into `folder`. Returns the paths of the archives. */
export function pack(folder) {
  const platforms = readdirSync(join(packageFolder, 'npm'))
  const archives = platforms.filter(isBuilt).map((platform) => packPlatform(platform, folder))
  return [...archives, packMain(platforms, folder)]
}

function isBuilt(platform) {
  return existsSync(addonOf(platform))
}

function addonOf(platform) {
  return join(packageFolder, `terrace.${platform}.node`)
}

function packPlatform(platform, folder) {
  return packStage(folder, (stage) => {
    cpSync(join(packageFolder, 'npm', platform), stage, { recursive: true })
    copyFileSync(addonOf(platform), join(stage, 'terrace.node'))
  })
}

function packMain(platforms, folder) {
  const manifests = platforms.map((platform) =>
    readJson(join(packageFolder, 'npm', platform, 'package.json'))
  )
  const optionalDependencies = Object.fromEntries(manifests.map(({ name, version }) => [name, version]))
  return packPackage(packageFolder, folder, (manifest) => ({ ...manifest, optionalDependencies }))
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)

  if (folder === undefined) {
    console.error('usage: node scripts/pack-terrace.mjs FOLDER')
    process.exit(1)
  }

  for (const archive of pack(folder)) console.log(archive)
}

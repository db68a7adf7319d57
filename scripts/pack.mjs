// Packs one of our packages with those of ours that it needs, as npm would publish them.
//
//   node scripts/pack.mjs PACKAGE [FOLDER]
//
// PACKAGE is a folder of `packages/`. Prints the paths of the archives in FOLDER, by default `target/packages`, and on
// standard error how to install them.
//
// The packages of the platforms are optional dependencies of the published package only: in a checkout, where they
// are not published yet, npm must not look for them.

import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformName } from '../packages/terrace/scripts/platform.mjs'
import { packPackage, packStage } from './pack-package.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const packagesFolder = join(root, 'packages')
const ours = new Map(
  readdirSync(packagesFolder).map((folder) => [manifestOf(join(packagesFolder, folder)).name, folder])
)

/** Packs `packages/<folder>` into `target`, after what it needs of ours. Returns the paths of the archives. */
export function pack(folder, target) {
  const packageFolder = join(packagesFolder, folder)
  const dependencies = Object.keys(manifestOf(packageFolder).dependencies ?? {})
  const needed = dependencies.filter((name) => ours.has(name)).flatMap((name) => pack(ours.get(name), target))
  const hasAddon = existsSync(join(packageFolder, 'npm'))
  return [
    ...needed,
    ...(hasAddon ? packWithAddon(packageFolder, target) : [packPackage(packageFolder, target)])
  ]
}

/** A package for each platform whose addon was built here, and the main one, which asks for those of all platforms. */
function packWithAddon(packageFolder, target) {
  const addonOf = (platform) => join(packageFolder, `terrace.${platform}.node`)
  const platforms = readdirSync(join(packageFolder, 'npm'))
  const built = platforms.filter((platform) => existsSync(addonOf(platform)))
  if (!built.includes(platformName())) {
    throw new Error(`${addonOf(platformName())} is missing: run "npm run build" first`)
  }

  const archives = built.map((platform) =>
    packStage(target, (stage) => {
      cpSync(join(packageFolder, 'npm', platform), stage, { recursive: true })
      copyFileSync(addonOf(platform), join(stage, 'terrace.node'))
    })
  )
  const manifests = platforms.map((platform) => manifestOf(join(packageFolder, 'npm', platform)))
  const optionalDependencies = Object.fromEntries(manifests.map(({ name, version }) => [name, version]))
  return [
    ...archives,
    packPackage(packageFolder, target, (manifest) => ({ ...manifest, optionalDependencies }))
  ]
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function main([folder, target = join(root, 'target', 'packages')]) {
  if (!folder || !existsSync(join(packagesFolder, folder, 'package.json'))) {
    throw new Error('usage: node scripts/pack.mjs PACKAGE [FOLDER]')
  }

  const archives = pack(folder, target)
  for (const archive of archives) console.log(archive)

  const otherPlatform = (archive) => /terrace-db-/.test(archive) && !archive.includes(platformName())
  const wanted = archives.filter((archive) => !otherPlatform(archive))
  const what = wanted.length > 1 ? 'These belong together: install all of them at once' : 'Install it'
  console.error(`\n${what}, in the folder of your project:\n\n  npm install ${wanted.join(' ')}\n`)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

// Packs one of our packages, with our packages that it needs, as npm would publish them.
//
//   node scripts/pack.mjs PACKAGE [DIRECTORY]
//
// PACKAGE is a directory of `packages/`, such as `core` or `back-ends/lmdb`. Prints the paths of the archives in DIRECTORY, by
// default `target/packages`, and on standard error how to install them.
//
// The packages of the platforms are optional dependencies of the published package only: in a checkout, where they
// are not published yet, npm must not look for them.

import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformName } from '../packages/terrace/scripts/platform.mjs'
import { packPackage, packStage, THIRD_PARTY } from './pack-package.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const packagesDirectory = join(root, 'packages')
const ours = new Map(
  [...readdirSync(packagesDirectory), ...readdirSync(join(packagesDirectory, 'back-ends')).map(backEnd)]
    // A package that has moved away leaves its node_modules in an older checkout.
    .filter((directory) => existsSync(join(packagesDirectory, directory, 'package.json')))
    .map((directory) => [manifestOf(join(packagesDirectory, directory)).name, directory])
)

/** The directory of a back-end in `packages/`. */
function backEnd(name) {
  return join('back-ends', name)
}

/**
 * Packs `packages/<directory>` into `target`, after the packages of this repository that it needs. Returns the paths of the
 * archives.
 */
export function pack(directory, target) {
  const packageDirectory = join(packagesDirectory, directory)
  const dependencies = Object.keys(manifestOf(packageDirectory).dependencies ?? {})
  const needed = dependencies.filter((name) => ours.has(name)).flatMap((name) => pack(ours.get(name), target))
  const hasAddon = existsSync(join(packageDirectory, 'npm'))
  return [
    ...needed,
    ...(hasAddon ? packWithAddon(packageDirectory, target) : [packPackage(packageDirectory, target)])
  ]
}

/** Packs a package for each platform whose addon was built here, and the main package, which asks for those of all platforms. */
function packWithAddon(packageDirectory, target) {
  const addonOf = (platform) => join(packageDirectory, `terrace.${platform}.node`)
  const platforms = readdirSync(join(packageDirectory, 'npm'))
  const built = platforms.filter((platform) => existsSync(addonOf(platform)))
  if (!built.includes(platformName())) {
    throw new Error(`${addonOf(platformName())} is missing: run "npm run build" first`)
  }

  const archives = built.map((platform) =>
    packStage(target, (stage) => {
      cpSync(join(packageDirectory, 'npm', platform), stage, { recursive: true })
      addThirdPartyLicences(packageDirectory, stage)
      copyFileSync(addonOf(platform), join(stage, 'terrace.node'))
    })
  )
  const manifests = platforms.map((platform) => manifestOf(join(packageDirectory, 'npm', platform)))
  const optionalDependencies = Object.fromEntries(manifests.map(({ name, version }) => [name, version]))
  return [
    ...archives,
    packPackage(packageDirectory, target, (manifest) => ({ ...manifest, optionalDependencies }))
  ]
}

/** Puts the licences of what is linked into an addon beside it, and names them among the files. */
function addThirdPartyLicences(packageDirectory, stage) {
  const manifest = manifestOf(stage)
  copyFileSync(join(packageDirectory, THIRD_PARTY), join(stage, THIRD_PARTY))
  const files = [...new Set([...manifest.files, THIRD_PARTY])]
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify({ ...manifest, files }, null, 2)}\n`)
}

function manifestOf(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

function main([directory, target = join(root, 'target', 'packages')]) {
  if (!directory || !existsSync(join(packagesDirectory, directory, 'package.json'))) {
    throw new Error('usage: node scripts/pack.mjs PACKAGE [DIRECTORY]')
  }

  const archives = pack(directory, target)
  for (const archive of archives) console.log(archive)

  const otherPlatform = (archive) => /terrace-db-/.test(archive) && !archive.includes(platformName())
  const wanted = archives.filter((archive) => !otherPlatform(archive))
  const what = wanted.length > 1 ? 'These belong together: install all of them at once' : 'Install it'
  console.error(`\n${what}, in the directory of your project:\n\n  npm install ${wanted.join(' ')}\n`)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

// Packs one of our packages, with our packages that it needs, as npm would publish them.
//
//   node scripts/pack.mjs [--all-platforms] PACKAGE [DIRECTORY]
//
// PACKAGE is the directory of a package, such as `packages/core`. Prints the paths of the archives in DIRECTORY, by default
// `target/packages`, and on standard error how to install them. Native parts are packed for this machine, or for all platforms,
// once `make prebuilds` has built them.
//
// The packages of the platforms are optional dependencies of the published package only: in a checkout, where they
// are not published yet, npm must not look for them.

import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync
} from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addonFile } from '../packages/terrace/scripts/cargo-build.mjs'
import { platformName } from '../packages/terrace/scripts/platform.mjs'
import { PLATFORMS } from '../packages/terrace/scripts/platforms.mjs'
import { withRepository } from './manifests.mjs'
import { packPackage, packStage, THIRD_PARTY } from './pack-package.mjs'
import { programFile, programName } from './prebuilds/paths.mjs'
import { packagesIn, root } from './workspace.mjs'

const ALL_PLATFORMS = '--all-platforms'
/** Our packages, by name, with their directories. */
const ours = new Map(packagesIn().map(({ name, directory }) => [name, directory]))

/** By the directory of a package that has packages for the platforms: what they have in them. */
const NATIVE = {
  'packages/terrace': {
    fileOf: addonFile,
    nameIn: () => 'terrace.node',
    product: 'addon',
    builtBy: 'npm run build',
    licences: join(root, 'packages/terrace', THIRD_PARTY)
  },
  'packages/cli': {
    fileOf: programFile,
    nameIn: (platform) => programName(PLATFORMS[platform]),
    product: 'program',
    builtBy: 'npm run build:program -w packages/cli',
    licences: join(root, 'crates', 'cli', THIRD_PARTY)
  }
}

/** The platforms for which a package was built here. */
export function builtPlatforms(directory) {
  return Object.keys(PLATFORMS).filter((platform) => existsSync(NATIVE[directory].fileOf(platform)))
}

/**
 * Packs the package in `directory`, such as `packages/core`, into `target`, after the packages of this repository that it needs, with
 * the native parts for the platforms that `platformsOf` names for its directory. Returns the paths of the archives.
 */
export function pack(directory, target, platformsOf = () => [platformName()]) {
  const packageDirectory = join(root, directory)
  const dependencies = Object.keys(manifestOf(packageDirectory).dependencies ?? {})
  const needed = dependencies
    .filter((name) => ours.has(name))
    .flatMap((name) => pack(ours.get(name), target, platformsOf))
  return [
    ...needed,
    ...(directory in NATIVE
      ? packNative(directory, target, platformsOf(directory))
      : [packPackage(packageDirectory, target, (manifest) => withRepository(manifest, directory))])
  ]
}

/** Packs a package for each of `platforms`, and the main package, which asks for those of all that there are. */
function packNative(directory, target, platforms) {
  const packageDirectory = join(root, directory)
  const { fileOf, nameIn, product, builtBy, licences } = NATIVE[directory]
  for (const platform of platforms) {
    if (existsSync(fileOf(platform))) continue
    const isOurs = platform === platformName()
    const command = isOurs ? builtBy : `make prebuilds WHAT=${product} PLATFORMS=${platform}`
    throw new Error(`${fileOf(platform)} is missing: run "${command}" first`)
  }

  const archives = platforms.map((platform) =>
    packStage(target, (stage) => {
      cpSync(join(packageDirectory, 'npm', platform), stage, { recursive: true })
      const manifest = withRepository(manifestOf(stage), `${directory}/npm/${platform}`)
      addThirdPartyLicences(licences, stage, manifest)
      copyFileSync(fileOf(platform), join(stage, nameIn(platform)))
    })
  )
  const all = readdirSync(join(packageDirectory, 'npm'))
  const manifests = all.map((platform) => manifestOf(join(packageDirectory, 'npm', platform)))
  const optionalDependencies = Object.fromEntries(manifests.map(({ name, version }) => [name, version]))
  return [
    ...archives,
    packPackage(packageDirectory, target, (manifest) =>
      withRepository({ ...manifest, optionalDependencies }, directory)
    )
  ]
}

/** Puts the licences of what is linked into a binary beside it, and names them among the files of `manifest`, which it writes. */
function addThirdPartyLicences(licences, stage, manifest) {
  copyFileSync(licences, join(stage, THIRD_PARTY))
  const files = [...new Set([...manifest.files, THIRD_PARTY])]
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify({ ...manifest, files }, null, 2)}\n`)
}

function manifestOf(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

function main(args) {
  const [one, target = join(root, 'target', 'packages')] = args.filter((arg) => arg !== ALL_PLATFORMS)
  const directory = relative(root, resolve(one ?? root)).replaceAll(sep, '/')
  if (![...ours.values()].includes(directory)) {
    throw new Error(`usage: node scripts/pack.mjs [${ALL_PLATFORMS}] PACKAGE [DIRECTORY]`)
  }

  const platforms = args.includes(ALL_PLATFORMS) ? Object.keys(PLATFORMS) : [platformName()]
  const archives = pack(directory, target, () => platforms)
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

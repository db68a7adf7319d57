// Packs this package, and the package of each platform whose addon was built here, as npm would publish them.
//
//   node scripts/pack.mjs FOLDER     prints the paths of the archives
//
// The packages of the platforms are optional dependencies of the published package only: in a checkout, where they
// are not published yet, npm must not look for them.

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), '..')
const license = join(packageFolder, '..', '..', 'LICENSE')

/** Packs both kinds of package into `folder`. Returns the paths of the archives. */
export function pack(folder) {
  mkdirSync(folder, { recursive: true })
  const staging = mkdtempSync(join(tmpdir(), 'terrace-pack-'))

  try {
    const platforms = readdirSync(join(packageFolder, 'npm'))
    const archives = platforms.filter(isBuilt).map((platform) => packPlatform(platform, staging, folder))
    return [...archives, packMain(platforms, staging, folder)]
  } finally {
    rmSync(staging, { recursive: true })
  }
}

function isBuilt(platform) {
  return existsSync(join(packageFolder, `terrace.${platform}.node`))
}

function packPlatform(platform, staging, folder) {
  const stage = join(staging, platform)
  cpSync(join(packageFolder, 'npm', platform), stage, { recursive: true })
  copyFileSync(join(packageFolder, `terrace.${platform}.node`), join(stage, 'terrace.node'))
  copyFileSync(license, join(stage, 'LICENSE'))
  return npmPack(stage, folder)
}

function packMain(platforms, staging, folder) {
  const stage = join(staging, 'terrace')
  const manifest = readJson(join(packageFolder, 'package.json'))
  cpSync(join(packageFolder, 'dist'), join(stage, 'dist'), { recursive: true })
  copyFileSync(join(packageFolder, 'README.md'), join(stage, 'README.md'))
  copyFileSync(license, join(stage, 'LICENSE'))

  manifest.optionalDependencies = Object.fromEntries(
    platforms
      .map((platform) => readJson(join(packageFolder, 'npm', platform, 'package.json')))
      .map(({ name, version }) => [name, version])
  )

  delete manifest.scripts
  delete manifest.devDependencies
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return npmPack(stage, folder)
}

function npmPack(stage, folder) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const output = execFileSync(npm, ['pack', stage, '--pack-destination', resolve(folder), '--json'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore']
  })

  const [{ filename }] = Object.values(JSON.parse(output))
  return join(resolve(folder), filename)
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)

  if (folder === undefined) {
    console.error('usage: node scripts/pack.mjs FOLDER')
    process.exit(1)
  }

  for (const archive of pack(folder)) console.log(archive)
}

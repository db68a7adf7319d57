// Packs one package as npm would publish it.

import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBuilt } from './built-files.mjs'
import { npm } from './npm.mjs'

const license = join(dirname(fileURLToPath(import.meta.url)), '..', 'LICENSE')

/** The licences of others that belong beside a binary. `third-party-licences.mjs` writes them. */
export const THIRD_PARTY = 'THIRD-PARTY-LICENSES.txt'

/** The ranges that a published package may ask for: an exact version, or what is compatible with one. */
const RANGE = /^\^?\d+\.\d+\.\d+$/

/**
 * Packs the package in `packageDirectory` into `directory`: its `dist`, if the manifest lists that, and what else it lists. `change`
 * turns the manifest of the checkout into the published one. Returns the path of the archive.
 */
export function packPackage(packageDirectory, directory, change = (manifest) => manifest) {
  const manifest = change(JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')))
  const isBuiltPackage = manifest.files?.includes('dist') ?? true
  const dist = join(packageDirectory, 'dist')
  if (isBuiltPackage && !existsSync(dist)) throw new Error(`${dist} is missing: run "npm run build" first`)

  return packStage(directory, (stage) => {
    delete manifest.scripts
    delete manifest.devDependencies
    checkRanges(manifest)
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    if (isBuiltPackage) copyBuilt(packageDirectory, stage)
    const others = (manifest.files ?? []).filter((file) => file !== 'dist')
    copySources(packageDirectory, stage, others)
    copyFileSync(join(packageDirectory, 'README.md'), join(stage, 'README.md'))
    const licences = join(packageDirectory, THIRD_PARTY)
    if (existsSync(licences)) copyFileSync(licences, join(stage, THIRD_PARTY))
  })
}

function copyBuilt(packageDirectory, stage) {
  const dist = join(packageDirectory, 'dist')
  const filter = (path) =>
    statSync(path).isDirectory() || isBuilt(packageDirectory, relative(dist, path).replaceAll('\\', '/'))
  cpSync(dist, join(stage, 'dist'), { recursive: true, filter })
}

/** Copies what a package publishes as it is written. What `files` takes away again with `!`, npm leaves out. */
function copySources(packageDirectory, stage, files) {
  const sources = files.filter((file) => !file.startsWith('!') && existsSync(join(packageDirectory, file)))
  for (const file of sources) cpSync(join(packageDirectory, file), join(stage, file), { recursive: true })
}

function checkRanges(manifest) {
  for (const kind of ['dependencies', 'optionalDependencies', 'peerDependencies']) {
    for (const [name, range] of Object.entries(manifest[kind] ?? {})) {
      if (RANGE.test(range)) continue
      throw new Error(`${manifest.name} asks for ${name} "${range}": write an exact or a caret range`)
    }
  }
}

/**
 * Packs the licence and whatever `fill` puts into the directory that it is passed. Returns the path of the archive in
 * `directory`.
 */
export function packStage(directory, fill) {
  mkdirSync(directory, { recursive: true })
  const stage = mkdtempSync(join(tmpdir(), 'terrace-pack-'))
  try {
    fill(stage)
    copyFileSync(license, join(stage, 'LICENSE'))
    const output = npm(['pack', stage, '--pack-destination', resolve(directory), '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore']
    })
    const [{ filename }] = Object.values(JSON.parse(output))
    return join(resolve(directory), filename)
  } finally {
    rmSync(stage, { recursive: true })
  }
}

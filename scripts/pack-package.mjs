// Packs a package that is JavaScript alone as npm would publish it:
//
//   node scripts/pack-package.mjs PACKAGE FOLDER     prints the path of the archive

import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const license = join(dirname(fileURLToPath(import.meta.url)), '..', 'LICENSE')

/**
 * Packs the package that is in `packageFolder` into `folder`, its manifest as `change` makes it of what a checkout has.
 * Returns the path of the archive.
 */
export function packPackage(packageFolder, folder, change = (manifest) => manifest) {
  return packStage(folder, (stage) => {
    const manifest = change(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')))
    delete manifest.scripts
    delete manifest.devDependencies
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    cpSync(join(packageFolder, 'dist'), join(stage, 'dist'), { recursive: true })
    copyFileSync(join(packageFolder, 'README.md'), join(stage, 'README.md'))
  })
}

/** Packs what `fill` puts into the folder that it is passed, and the licence. Returns the path of the archive in `folder`. */
export function packStage(folder, fill) {
  mkdirSync(folder, { recursive: true })
  const stage = mkdtempSync(join(tmpdir(), 'terrace-pack-'))
  try {
    fill(stage)
    copyFileSync(license, join(stage, 'LICENSE'))
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
    const output = execFileSync(npm, ['pack', stage, '--pack-destination', resolve(folder), '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore']
    })
    const [{ filename }] = Object.values(JSON.parse(output))
    return join(resolve(folder), filename)
  } finally {
    rmSync(stage, { recursive: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [packageFolder, folder] = process.argv.slice(2)
  if (folder === undefined) {
    console.error('usage: node scripts/pack-package.mjs PACKAGE FOLDER')
    process.exit(1)
  }
  console.log(packPackage(packageFolder, folder))
}

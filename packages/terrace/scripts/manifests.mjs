// The manifests of the packages in `npm/`, of which each has the addon for one platform.
//
//   node scripts/manifests.mjs    writes them

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageDirectory } from './cargo-build.mjs'
import { PLATFORMS } from './platforms.mjs'

/** The manifest of a platform's package. Its version and its engines are those of the main package. */
export function platformManifest(name) {
  const { version, license, engines } = JSON.parse(
    readFileSync(join(packageDirectory, 'package.json'), 'utf8')
  )
  const { title, os, cpu, libc } = PLATFORMS[name]
  return {
    name: `@terrace-db/${name}`,
    version,
    description: `The native part of terrace for ${title}`,
    license,
    main: 'terrace.node',
    files: ['terrace.node'],
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    engines
  }
}

/** The text of its file. */
export function manifestText(name) {
  return `${JSON.stringify(platformManifest(name), null, 2)}\n`
}

export function manifestFile(name) {
  return join(packageDirectory, 'npm', name, 'package.json')
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(PLATFORMS)) {
    mkdirSync(join(packageDirectory, 'npm', name), { recursive: true })
    writeFileSync(manifestFile(name), manifestText(name))
  }
}

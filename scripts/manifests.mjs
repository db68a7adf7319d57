// The manifests of the packages that have a native part for one platform: the addon of terrace, and the program of terrace-cli.
//
//   node scripts/manifests.mjs    writes them

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PLATFORMS } from '../packages/terrace/scripts/platforms.mjs'
import { programName, root } from './prebuilds/paths.mjs'

/** By the directory of a package, what it calls its packages of the platforms, and what they have in them. */
const KINDS = {
  terrace: {
    prefix: '',
    content: 'The native part of terrace',
    entries: () => ({ main: 'terrace.node', files: ['terrace.node'] })
  },
  cli: {
    prefix: 'cli-',
    content: 'The program terrace',
    entries: (platform) => ({ files: [programName(platform)] })
  }
}

/** The directories of the packages whose native parts are separate packages. */
export const NATIVE_PACKAGES = Object.keys(KINDS)

/** The manifest of a platform's package. Its version and its engines are those of the main package, which is in `directory`. */
export function platformManifest(directory, name) {
  const { version, license, engines } = JSON.parse(
    readFileSync(join(root, 'packages', directory, 'package.json'), 'utf8')
  )
  const { prefix, content, entries } = KINDS[directory]
  const { title, os, cpu, libc } = PLATFORMS[name]
  return {
    name: `@terrace-db/${prefix}${name}`,
    version,
    description: `${content} for ${title}`,
    license,
    ...entries(PLATFORMS[name]),
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    engines
  }
}

/**
 * Returns a manifest with the place of the sources of the package in `directory`, relative to the root: in `repository`, by default
 * that of the root's manifest. npm needs it for the links of a README. If there is no repository, returns the manifest unchanged.
 */
export function withRepository(manifest, directory, repository = rootManifest().repository) {
  const url = repository?.url ?? repository
  return url == null ? manifest : { ...manifest, repository: { type: 'git', url, directory } }
}

function rootManifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/** The text of its file. */
export function manifestText(directory, name) {
  return `${JSON.stringify(platformManifest(directory, name), null, 2)}\n`
}

export function manifestFile(directory, name) {
  return join(root, 'packages', directory, 'npm', name, 'package.json')
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for (const directory of NATIVE_PACKAGES) {
    for (const name of Object.keys(PLATFORMS)) {
      mkdirSync(dirname(manifestFile(directory, name)), { recursive: true })
      writeFileSync(manifestFile(directory, name), manifestText(directory, name))
    }
  }
}

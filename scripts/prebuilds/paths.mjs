import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** What the builds leave between two runs. `scripts/setup prebuilds` puts the tools there. */
export const work = join(root, 'target', 'prebuilds')

export const tools = join(work, 'tools', 'bin')

/** The archives of the C library and of the program, of all platforms. */
export const archives = join(work, 'archives')

/** What installed programs of a platform are called. */
export function programName({ os }) {
  return os === 'win32' ? 'terrace.exe' : 'terrace'
}

/** The program of a build: where the launcher looks in a checkout, and what is packed. */
export function programFile(build) {
  const [os] = build.split('-')
  return join(root, 'packages', 'cli', 'built', build, programName({ os }))
}

/** How the archives of a build begin, and what they have in them: one directory of this name. */
export function archiveName(product, version, build) {
  return `${product}-${version}-${build}`
}

/** The archive that `name` is packed into: one that every such system opens. */
export function archiveFile(name, { os }, directory = archives) {
  return join(directory, `${name}${os === 'win32' ? '.zip' : '.tar.gz'}`)
}

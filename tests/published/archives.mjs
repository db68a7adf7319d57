// The archives of our packages as npm would publish them, unpacked.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packagesIn } from '../../scripts/workspace.mjs'
import { Projects } from '../support/projects.mjs'

/** The directories of all our packages. */
export const directories = packagesIn().map(({ directory }) => directory)

/** Packs all our packages, those of the platforms included that were built here. Returns each once. */
export function packAll(t) {
  const projects = new Projects()
  t.after(() => projects.remove())
  return [...new Set(directories.flatMap((directory) => projects.pack(directory)))].map((archive) =>
    unpack(archive, join(projects.directory, 'unpacked'))
  )
}

/** The package in an archive: its manifest, the paths of its files, and how to read one. */
export function unpack(archive, into) {
  const directory = join(into, basename(archive, '.tgz'))
  mkdirSync(directory, { recursive: true })
  execFileSync('tar', ['xzf', archive, '--strip-components=1', '-C', directory])
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  const read = (file) => readFileSync(join(directory, file), 'utf8')
  return { archive, directory, files, read, manifest: JSON.parse(read('package.json')) }
}

/** Whether a package is a workshop, which is published as it is written: programs and texts, and no module to import. */
export function isWorkshop({ files }) {
  return files.includes('workshop.json')
}

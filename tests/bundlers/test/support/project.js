// The project in which each test file tries its tool. It has all our packages, as npm would publish them.

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory in which the tools are installed. */
export const tools = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'node_modules')

/** Makes a project with `files` in it. */
export function makeProject(projects, files, manifest = {}) {
  return projects.make('project', {
    archives: projects.archivesOf('packages/terrace', 'packages/toolbox'),
    files,
    manifest
  })
}

/** Where the program is: in the package of this platform, or built in a checkout. */

import { createRequire } from 'node:module'
import { BUILDS, buildsFor } from './platform.js'

const { resolve } = createRequire(__filename)
const NAME = process.platform === 'win32' ? 'terrace.exe' : 'terrace'

/** The package that has the program for a build. */
export function packageOf(build: string): string {
  return `@terrace-db/cli-${build}`
}

/** The programs for this machine that are there, the likeliest first. */
export function findPrograms(): string[] {
  const names = buildsFor(process)
  const files = [
    ...names.map((name) => `../built/${name}/${NAME}`),
    ...names.map((name) => `${packageOf(name)}/${NAME}`)
  ]
  return files.map(pathOf).filter((path) => path !== undefined)
}

/** The builds, for whatever platform, whose packages are installed. */
export function installedBuilds(): string[] {
  return BUILDS.filter((name) => pathOf(`${packageOf(name)}/package.json`) !== undefined)
}

function pathOf(file: string): string | undefined {
  try {
    return resolve(file)
  } catch {
    return undefined
  }
}

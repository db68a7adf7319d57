/** What to do when there is no program that runs here, as text. */

import { installedBuilds, packageOf } from './find-programs.js'
import { BUILDS, buildsFor, type Runtime } from './platform.js'

const COMPILE = '"cargo install terrace-cli" compiles it (it needs Rust)'

/** When no package has the program for this machine. */
export function missingMessage(runtime: Runtime): string {
  const where = `${runtime.platform} on ${runtime.arch}`
  const names = buildsFor(runtime)
  if (!names.some((name) => BUILDS.includes(name))) {
    return `The program terrace is not published for ${where}, only for ${BUILDS.join(', ')}. ${COMPILE}.`
  }

  const wanted = names.map(packageOf).join(' or ')
  const others = installedBuilds()
  if (others.length > 0) {
    return (
      `The program terrace is here for ${others.join(', ')}, not for ${where}: remove node_modules and install terrace-cli again, ` +
      'with the Node that is to run it. A node_modules directory cannot be copied between systems or processors.'
    )
  }
  return (
    `The program terrace for ${where} is missing. It comes with the optional package ${wanted}: install terrace-cli again ` +
    `without --omit=optional, and on the platform where it is to run. Or ${COMPILE}.`
  )
}

/** When the system did not start the program. */
export function failureMessage(runtime: Runtime, program: string, error: NodeJS.ErrnoException): string {
  return `The program terrace was found, but did not start.\n${program}: ${error.message}\n  ${advice(runtime, error)}`
}

function advice({ platform, arch }: Runtime, { code }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      // The file is there: what the system has not found is the loader that it names.
      return (
        'It was built for another C library (glibc or musl) than the one of this system: install terrace-cli again on the system where it ' +
        'is to run. A node_modules directory cannot be copied from Debian or Ubuntu to Alpine, or back.'
      )
    case 'EACCES':
      return 'It may not be executed: check the permissions of the file, and whether its file system is mounted with "noexec".'
    default:
      return (
        `The file is damaged, or was built for another platform than ${platform} on ${arch}: remove node_modules and install ` +
        'terrace-cli again, with the Node that is to run it.'
      )
  }
}

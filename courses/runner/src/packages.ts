/** Packages of the workshop that a learner's program may import without having installed them. */

import * as nodeModule from 'node:module'

/** Which packages these are. */
export interface Packages {
  /** Their names. */
  readonly names: readonly string[]
  /** The directory that they are found from. */
  readonly from: string
}

/** Tells the process of a program. */
export const PACKAGES_VARIABLE = 'TERRACE_WORKSHOP_PACKAGES'

type NextResolve = (specifier: string, context: object) => object

/** Newer than the oldest Node whose types these are. */
type RegisterHooks = (hooks: {
  resolve: (specifier: string, context: object, next: NextResolve) => object
}) => void

/**
 * Calls a hook for each import, in the program's own thread. Where it is missing (Node 20), Node calls the hook in a worker, which the
 * process must then be allowed to start.
 */
export const { registerHooks } = nodeModule as { registerHooks?: RegisterHooks }

/** The variables of the environment of a program that may import these packages. */
export function packagesEnvironment(packages: Packages): Record<string, string> {
  return { [PACKAGES_VARIABLE]: JSON.stringify(packages) }
}

/** Whether to search the packages for an import that was not found beside the program. */
export function isAmong(specifier: string, { names }: Packages): boolean {
  return names.some((name) => specifier === name || specifier.startsWith(`${name}/`))
}

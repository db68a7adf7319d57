/** Is loaded before a learner's program. */

import { register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isAmong, PACKAGES_VARIABLE, type Packages, registerHooks } from './packages.js'

writeAtOnce()
const packages = process.env[PACKAGES_VARIABLE]
delete process.env[PACKAGES_VARIABLE]
if (packages !== undefined) findPackages(JSON.parse(packages))

/** What the program prints leaves it at once, so a program without end cannot pile it up in memory. */
function writeAtOnce(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const { _handle: handle } = stream as unknown as {
      _handle?: { setBlocking?: (isBlocking: boolean) => void }
    }
    handle?.setBlocking?.(true)
  }
}

/** Looks for these packages in the workshop if they are not found beside the program. */
function findPackages(packages: Packages): void {
  if (registerHooks === undefined) {
    register(pathToFileURL(join(__dirname, 'packages-worker.mjs')), { data: packages })
    return
  }
  const parentURL = pathToFileURL(`${packages.from}/`).href
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context)
      } catch (error) {
        if (!isAmong(specifier, packages)) throw error
        return next(specifier, { ...context, parentURL })
      }
    }
  })
}

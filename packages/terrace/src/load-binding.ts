/**
 * Finds and loads the native addon: the one built in this directory if there is one, otherwise that of the platform's package.
 * In a bundled program, "this directory" is that of the bundle.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Binding } from './binding.js'
import { createError } from './errors.js'

// A bundle that is an ES module does not know its own file name. Most likely it is the program that was started.
const here = typeof __filename === 'string' ? __filename : process.argv[1]
const load = createRequire(here ?? join(process.cwd(), 'program'))

/** Names of the builds that can run here, as in `npm/`. On Linux, either C library may be in use. */
function candidates(): string[] {
  const { platform, arch } = process
  if (platform === 'linux') return [`linux-${arch}-gnu`, `linux-${arch}-musl`]
  if (platform === 'win32') return [`win32-${arch}`]
  return [`${platform}-${arch}`]
}

function find(): Binding {
  const names = candidates()
  const files = [
    ...names.flatMap((name) => [`../terrace.${name}.node`, `./terrace.${name}.node`]),
    ...names.map((name) => `@terrace-db/${name}`)
  ]
  const failures: string[] = []

  for (const file of files) {
    try {
      return load(file)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // A missing package is no failure worth listing: the message below says what to install.
      if (code !== 'MODULE_NOT_FOUND') failures.push(`${file}: ${message}`)
    }
  }

  const packages = names.map((name) => `@terrace-db/${name}`).join(' or ')
  const reasons =
    failures.length > 0 ? `\nThe following was found, but did not load:\n${failures.join('\n')}` : ''

  throw new Error(
    `The native part of terrace for ${process.platform} on ${process.arch} is missing. It comes with the optional ` +
      `package ${packages}: install terrace again without --omit=optional, and on the platform where it is to run. ` +
      'If the program is bundled, leave terrace out of the bundle (esbuild: --external:terrace), or copy ' +
      `terrace.node of that package beside the bundle as terrace.${names[0]}.node. ` +
      `In a checkout of terrace itself, run "npm run build:native" in packages/terrace.${reasons}`
  )
}

/** @internal */
export const binding: Binding = find()

binding.setHelpers(createError, (...parts) => parts)

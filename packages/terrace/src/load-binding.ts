/**
 * Finds and loads the native addon: the one built in this directory if there is one, otherwise that of the platform's package.
 * In a bundled program, "this directory" is that of the bundle.
 */

import { createRequire } from 'node:module'
import type { Binding } from './binding.js'
import { createError } from './errors.js'
import { type Failure, loadError } from './load-error.js'
import { buildsFor } from './platform.js'
import { programFile } from './program-file.js'

// A bundle that is an ES module does not know its own file name, unless its banner defines it. Most likely it is the program that
// was started.
const load = createRequire(typeof __filename === 'string' ? __filename : programFile(process))

function find(): Binding {
  const names = buildsFor(process)
  const files = [
    ...names.flatMap((name) => [`../terrace.${name}.node`, `./terrace.${name}.node`]),
    ...names.map((name) => `@terrace-db/${name}`)
  ]
  const failures: Failure[] = []

  for (const file of files) {
    try {
      return load(file)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // A missing package is not listed as a failure: the message names what to install.
      if (code !== 'MODULE_NOT_FOUND') failures.push({ file, message })
    }
  }

  throw loadError(process, names, failures)
}

/** @internal */
export const binding: Binding = find()

binding.setHelpers(createError, (...parts) => parts)

// Finds the packages that are compared. They are no dependencies of terrace-net: install them in this directory, or name
// directories of packages in TERRACE_BENCH_MODULES. many-level needs a database of abstract-level 1, such as classic-level 1.

import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

const here = createRequire(import.meta.url)
const directories = (process.env.TERRACE_BENCH_MODULES ?? '').split(delimiter).filter((path) => path !== '')

/** Loads a package whose version begins like this. */
export function load(name, version) {
  const found = []
  for (const path of [...directories.map((directory) => join(directory, name)), name]) {
    try {
      const { version: actual } = here(join(path, 'package.json'))
      if (actual.startsWith(version)) return here(path)
      found.push(actual)
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  const instead = found.length > 0 ? `, but ${found.join(', ')} is there` : ''
  throw new Error(
    `${name} ${version} is missing${instead}: run npm install in bench/, or set TERRACE_BENCH_MODULES`
  )
}

/** Whether {@link load} would find it. */
export function isThere(name, version) {
  try {
    load(name, version)
    return true
  } catch {
    return false
  }
}

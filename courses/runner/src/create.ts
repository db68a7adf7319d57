/** Makes a workshop for an author to begin with. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from './failure.js'
import { templateFiles } from './template.js'

/**
 * Writes the files of a small workshop that passes its own check.
 *
 * @param version - That of this package, which the workshop will depend on.
 * @throws UsageError if the directory has files already, or its name cannot be that of a package.
 */
export function createWorkshop(directory: string, version: string): void {
  const target = resolve(directory)
  const name = basename(target)
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new UsageError(`'${name}' cannot be a workshop's name: take small letters, digits and -.`)
  }

  mkdirSync(target, { recursive: true })
  if (readdirSync(target).length > 0)
    throw new UsageError(`${directory} has files already, so nothing was written.`)
  for (const [file, text] of Object.entries(templateFiles(name, version))) {
    const path = join(target, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  }
}

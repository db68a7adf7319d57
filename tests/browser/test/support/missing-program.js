import { accessSync, constants } from 'node:fs'

/**
 * Returns how to install a program that is missing; undefined if it is there.
 *
 * @param name - The Debian package that contains it.
 * @param variable - The environment variable that names it elsewhere.
 */
export function missingProgram(path, name, variable) {
  try {
    accessSync(path, constants.X_OK)
    return undefined
  } catch {
    return `${path} is missing (apt-get install ${name}; ${variable} names one elsewhere)`
  }
}

import { accessSync, constants } from 'node:fs'

/**
 * Says what to do if a program is missing; returns undefined if it is there.
 *
 * @param name - Debian's package that has it.
 * @param variable - What names it elsewhere.
 */
export function missingProgram(path, name, variable) {
  try {
    accessSync(path, constants.X_OK)
    return undefined
  } catch {
    return `${path} is missing (apt-get install ${name}; ${variable} names one elsewhere)`
  }
}

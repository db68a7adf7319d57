// What the tests of terrace-core and of the toolbox run on: databases of the target that TERRACE_TARGET names.

import { targetNamed } from './targets.js'

const target = targetNamed(process.env.TERRACE_TARGET)

export const { name, supports } = target

/** A class as these tests want it, whose instances are those that the target makes. */
export function Database(location, options) {
  return target.make(location, options)
}

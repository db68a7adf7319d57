/** Loads the class of a target, in the process that will run it. */

import { UsageError } from '../errors.js'

/** @typedef {new (...args: any[]) => any} DatabaseClass */

/**
 * @param {import('./resolve.js').Target} target
 * @returns {Promise<DatabaseClass>}
 */
export async function loadClass(target) {
  const module = await importModule(target)
  if (target.adapter !== null) return (await import(target.adapter)).adapt(module.default ?? module)

  const exported = { ...module.default, ...module, default: module.default }
  if (target.className !== null) {
    if (isDatabaseClass(exported[target.className])) return exported[target.className]
    throw new UsageError(`${target.name} exports no database class named ${target.className}`)
  }
  if (isDatabaseClass(exported.default)) return exported.default
  const classes = new Map(Object.entries(exported).filter(([, value]) => isDatabaseClass(value)))
  const distinct = new Set(classes.values())
  if (distinct.size === 1) return [...distinct][0]
  throw new UsageError(
    distinct.size === 0
      ? `${target.name} exports no class like abstract-level's`
      : `${target.name} exports several classes: choose with --class (${[...classes.keys()].join(', ')})`
  )
}

/** @param {import('./resolve.js').Target} target */
async function importModule(target) {
  try {
    return await import(target.module)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`${target.name} does not load: ${message}`, { cause: error })
  }
}

/** @param {any} value */
function isDatabaseClass(value) {
  const prototype = typeof value === 'function' ? value.prototype : undefined
  return ['open', 'close', 'batch'].every((method) => typeof prototype?.[method] === 'function')
}

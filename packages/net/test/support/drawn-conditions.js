// Random conditions of a write, and what becomes of them.

import assert from 'node:assert/strict'
import { allKeys, ownKeys, prefixOf, randomBounds, sublevels, within } from './permission-model.js'

export class DrawnConditions {
  #conditions
  /** The entries of the snapshot, and the keys that were written since. */
  #before
  #changed = new Set()

  /** @param entries - Those of now, when the snapshot is created. */
  constructor(random, entries) {
    this.#before = new Map(entries)
    this.#conditions = Array.from({ length: random.below(4) }, () => drawn(random, entries))
  }

  /** Keys were written. */
  changed(keys) {
    for (const key of keys) this.#changed.add(key)
  }

  /** The option `if`. */
  options(snapshot, sublevelOf) {
    return this.#conditions.map(({ path, key, bounds, ...rest }) => ({
      ...rest,
      ...(bounds === undefined ? { key } : { ...bounds, unchangedSince: snapshot }),
      ...(path !== undefined && { sublevel: sublevelOf(path) })
    }))
  }

  /** Whether a user may read all that the conditions are about. */
  areReadable(model) {
    return this.#conditions.every(({ path, key, bounds }) => {
      const prefix = prefixOf(path ?? [])
      return bounds === undefined
        ? model.allows('read', prefix + key)
        : model.allowsRange('read', rootBounds(bounds, prefix))
    })
  }

  /**
   * Writes, and checks which conditions did not hold for these entries. An entry that was written with the same value may count as
   * changed. Returns whether all of them held.
   */
  async check(write, entries) {
    const failed = await write().then(
      () => [],
      (error) => (error.code === 'LEVEL_CONFLICT' ? error.conditions : Promise.reject(error))
    )
    const must = []
    const may = []
    for (const [i, { path, key, bounds, exists, value }] of this.#conditions.entries()) {
      const prefix = prefixOf(path ?? [])
      if (bounds === undefined) {
        const found = entries.get(prefix + key)
        if (exists === undefined ? found !== value : (found !== undefined) !== exists) must.push(i)
        continue
      }
      const range = rootBounds(bounds, prefix)
      const touched = [...this.#changed].filter((each) => within(range, each))
      if (touched.some((each) => entries.get(each) !== this.#before.get(each))) must.push(i)
      else if (touched.length > 0) may.push(i)
    }
    assert.deepEqual(
      failed.filter((i) => !may.includes(i)),
      must
    )
    return failed.length === 0
  }
}

function drawn(random, entries) {
  const path = random.below(3) === 0 ? random.pick(sublevels) : undefined
  const own = path === undefined ? allKeys : ownKeys
  const of = path === undefined ? {} : { path }
  if (random.below(3) === 0) return { ...of, bounds: randomBounds(random, own) }
  // An empty key is not valid, except in a sublevel.
  const key = random.pick(own)
  const stored = entries.get(prefixOf(path ?? []) + key)
  if (random.below(2) === 0) return { ...of, key, exists: random.below(3) > 0 === (stored !== undefined) }
  return { ...of, key, value: random.below(3) > 0 && stored !== undefined ? stored : 'another value' }
}

/** The bounds of a sublevel's range as those of the whole database. */
function rootBounds(bounds, prefix) {
  if (prefix === '') return bounds
  const range = Object.fromEntries(Object.entries(bounds).map(([name, key]) => [name, prefix + key]))
  if (range.gte === undefined && range.gt === undefined) range.gte = prefix
  if (range.lte === undefined && range.lt === undefined) range.lt = `${prefix.slice(0, -1)}"`
  return range
}

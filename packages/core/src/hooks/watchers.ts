/**
 * The hook functions and listeners that see a write because of the object that it comes through: those of that object and of
 * the objects that it was made from, as they are at the call.
 */

import type { Database } from '../level/database.js'
import type { Namespace } from '../sublevel/namespace.js'
import type { PrewriteFunction } from './prewrite.js'

export interface Watcher {
  readonly namespace: Namespace
  readonly functions: readonly PrewriteFunction[]
  /** Whether anyone listens to the event `write`. */
  readonly hasListeners: boolean
  /** The object that forwards operations to this one; null if this one got them from the caller. */
  readonly below: Database | null
}

/** Describes one object, whether it has functions and listeners or not. */
export function watcherAt(namespace: Namespace, below: Database | null): Watcher {
  const { owner } = namespace
  return {
    namespace,
    functions: owner.hooks.prewrite.functions,
    hasListeners: owner.listenerCount('write') > 0,
    below
  }
}

/** Describes the objects that have functions or listeners, deepest first. */
export function watchersFrom(namespace: Namespace | null, below: Database | null): readonly Watcher[] {
  const watchers: Watcher[] = []

  for (let at = namespace; at !== null; at = at.parent) {
    const watcher = watcherAt(at, below)
    if (watcher.functions.length > 0 || watcher.hasListeners) watchers.push(watcher)
    below = at.owner
  }

  return watchers
}

/**
 * Who sees a write because of the object that it comes through: the hook functions and listeners of that object and of those
 * that it was made from, as they are at the call.
 */

import type { Database } from './database.js'
import type { Namespace } from './namespace.js'
import type { PrewriteFunction } from './prewrite.js'

export interface Watcher {
  readonly namespace: Namespace
  readonly functions: readonly PrewriteFunction[]
  /** Whether somebody listens to the event `write`. */
  readonly isHeard: boolean
  /** The object that forwards operations to this one; null if they are given here. */
  readonly below: Database | null
}

/** One object, whether it has functions and listeners or not. */
export function watcherAt(namespace: Namespace, below: Database | null): Watcher {
  const { owner } = namespace
  return {
    namespace,
    functions: owner.hooks.prewrite.functions,
    isHeard: owner.listenerCount('write') > 0,
    below
  }
}

/** Those that have any, the deepest first. */
export function watchersFrom(namespace: Namespace | null, below: Database | null): readonly Watcher[] {
  const watchers: Watcher[] = []

  for (let at = namespace; at !== null; at = at.parent) {
    const watcher = watcherAt(at, below)
    if (watcher.functions.length > 0 || watcher.isHeard) watchers.push(watcher)
    below = at.owner
  }

  return watchers
}

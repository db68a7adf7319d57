import type { Place } from './open-database.js'

/** That of browser-level, and of level-js before it. */
const DEFAULT_PREFIX = 'level-js-'

/** Where browser-level keeps the database of this location. */
export function placeOf(location: string, prefix = DEFAULT_PREFIX, version?: number): Place {
  return { name: prefix + location, store: location, version }
}

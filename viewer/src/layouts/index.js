/** Which program's layout of keys and values a database has. */

import { bedrockLayout } from './bedrock.js'
import { indexedDbLayout } from './indexeddb.js'
import { localStorageLayout } from './local-storage.js'
import { plain } from './plain.js'
import { sessionStorageLayout } from './session-storage.js'

/** The most particular first. */
const LAYOUTS = [indexedDbLayout, localStorageLayout, sessionStorageLayout, bedrockLayout, plain]

/** Names of keys that are worth asking for. */
export const ASKED_NAMES = LAYOUTS.flatMap(({ names }) => names ?? [])

/**
 * The layout of a database.
 *
 * @param facts - `order`, the name of the order of keys; `keys`, some of its first; `names`, those of {@link ASKED_NAMES} that it has.
 */
export const layoutOf = (facts) => LAYOUTS.find((layout) => layout.recognises(facts))

export const layoutById = (id) => LAYOUTS.find((layout) => layout.id === id)

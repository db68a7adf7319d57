// The back-end on IndexedDB in pages. It is not exported by the package yet, so its module is bundled from where the build puts it.

import { fileURLToPath } from 'node:url'
import { bundleOf } from './bundles.js'
import { serveSite } from './site.js'

const directory = fileURLToPath(new URL('browser/indexeddb/', import.meta.resolve('terrace')))

/** A line of a program that gets the class. */
export const IMPORT_LEVEL = `import { IndexedDbLevel } from ${JSON.stringify(`${directory}indexeddb-level.js`)}`

/** A module that exports the class, and that of browser-level. */
export const LEVEL_MODULE = `
  export { IndexedDbLevel } from ${JSON.stringify(`${directory}indexeddb-level.js`)}
  export { BrowserLevel } from 'browser-level'
`

/** Serves a site with the class, and browser-level's, at `/level.js`, and these files. Returns the origin. */
export async function serveLevel(t, files = {}) {
  return serveSite(t, { '/level.js': await bundleOf(LEVEL_MODULE), ...files })
}

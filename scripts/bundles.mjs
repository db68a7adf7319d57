// The scripts that `bundle.mjs` makes of a package, each from several modules.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Sources are modules, of which a script gets only those that it uses. What is built from them is CommonJS. */
const CORE_SOURCES = { 'terrace-core': join(root, 'packages', 'core', 'src', 'index.ts') }

/**
 * The bundles of each package: where they go in `dist`, what they consist of, and where that is. Modules that a script of `apart`
 * imports dynamically are not in it: the named script is loaded instead. No script imports a package, so that every development server
 * can serve them unmodified.
 */
export const BUNDLES = {
  net: {
    directory: 'dist',
    scripts: { 'browser/terrace-net.js': "export { NetLevel } from './client/index.js'" }
  },
  terrace: {
    directory: 'src',
    alias: CORE_SOURCES,
    scripts: {
      'browser/terrace.js': "export { Level, MemoryLevel } from './browser/index.js'",
      'browser/terrace-indexeddb.js': "export * from './browser/indexeddb/index.js'",
      'browser/terrace-worker.js': "import './browser/tabs/worker/worker.js'",
      'browser/terrace-broker.js': "import './browser/tabs/channel/broker.js'"
    },
    apart: { 'browser/terrace.js': { './indexeddb/index.js': './terrace-indexeddb.js' } }
  }
}

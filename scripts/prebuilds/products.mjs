// What is built for each platform: the Node addon, the C library, the program.

import { addonFile, fileOf } from '../../packages/terrace/scripts/cargo-build.mjs'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { library } from './library.mjs'
import { program } from './program.mjs'

/**
 * A product has the `crate` that it is built from and a function `assemble(name, files, directory)`. It may be `isStatic`, without a C
 * library of the system where that can be, and `isWhole`, optimised all at once. The function makes of cargo's `files` for the platform
 * `name`, in a `directory` for it, what is published. It returns `{ result, binary, expected, wrong, places }`: the file whose bytes
 * count, the one that systems load with what {@link complaints} expects of it, what else is wrong, and pairs of files and where to put
 * them.
 */
export const PRODUCTS = {
  addon: {
    crate: 'terrace-node',
    assemble(name, files) {
      const result = fileOf(files, /\.(so|dylib|dll)$/)
      return {
        result,
        binary: result,
        expected: expectedOfAddon(PLATFORMS[name]),
        wrong: [],
        places: [[result, addonFile(name)]]
      }
    }
  },
  library,
  program
}

/** What an addon is to Node, see {@link complaints}. */
export function expectedOfAddon({ os }) {
  // Node calls the first when it loads an addon, and the second before that. Without the second it takes the addon for one of
  // Node-API 8.
  const exports = ['napi_register_module_v1', 'node_api_module_get_api_version_v1']
  return { exports, ...(os === 'darwin' && { id: '@rpath/terrace.node' }) }
}

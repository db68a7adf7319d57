/** The package as an ES module: what the CommonJS module exports, so that there is one `Level` however it is loaded. */

import { Level } from './index.js'

export * from './index.js'

/** For programs that take the default export of classic-level, which is a CommonJS module. */
export default { Level, ClassicLevel: Level }

/** The package as an ES module. It exports what the CommonJS module exports, so there is one `Level` however it is loaded. */

import { Level, MemoryLevel } from './index.js'

export * from './index.js'

/** For programs that use the default export of classic-level, which is a CommonJS module. */
export default { Level, ClassicLevel: Level, MemoryLevel }

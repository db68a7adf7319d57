/** The package as an ES module. It exports what the CommonJS module exports, so there is one class however it is loaded. */

import leveldown from './index.js'

export type { LevelDownError } from './errors.js'
export type * from './types.js'
export default leveldown

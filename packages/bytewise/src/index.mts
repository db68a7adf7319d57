/** The package as an ES module: what the CommonJS module exports, so that there is one of each however it is loaded. */

import { bytewise } from './index.js'

export * from './index.js'
export default bytewise

/** The package as an ES module. It exports what the CommonJS module exports, so each thing exists once however it is loaded. */

import { bytewise } from './index.js'

export * from './index.js'
export default bytewise

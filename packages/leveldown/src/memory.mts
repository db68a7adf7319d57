/** The class for databases in memory as an ES module. */

import memdown from './memory.js'

export type { AbstractLevelDown, MemDownConstructor } from './types.js'
export default memdown

import { MemoryLevel } from 'terrace'
import { known } from '../known/memory.js'

/** @type {import('../targets.js').Target} */
export const memory = {
  name: 'MemoryLevel',
  machines: 'one',
  supports: { getSync: true, putSync: true, everyWrite: true },
  make: (_, options) => new MemoryLevel(options),
  several: {},
  known
}

import { LmdbLevel } from 'terrace-lmdb'
import { known } from '../known/lmdb.js'

/** @type {import('../targets.js').Target} */
export const lmdb = {
  name: 'LmdbLevel',
  machines: 'one',
  supports: { getSync: true, putSync: false, everyWrite: true },
  make: (location, options) => new LmdbLevel(location, options),
  several: { shared: true },
  known
}

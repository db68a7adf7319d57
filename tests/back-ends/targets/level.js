import { Level } from 'terrace'

/** @type {import('../targets.js').Target} */
export const level = {
  name: 'Level',
  machines: 'one',
  supports: { getSync: true, putSync: true, everyWrite: true },
  make: (location, options) => new Level(location, options),
  several: { shared: true },
  known: {}
}

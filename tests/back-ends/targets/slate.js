import { SlateLevel } from 'terrace-slatedb'
import { known } from '../../../packages/back-ends/slatedb/test/common/known.js'
import { objectStore, storeLocation, storeOptions } from '../servers.js'

const supports = { getSync: false, putSync: false, everyWrite: true }
/** Writes wait for none, so that tests are short. Each is in the store before it is acknowledged all the same. */
const soon = { flushIntervalMs: 0 }

/** @type {import('../targets.js').Target} */
export const slate = {
  name: 'SlateLevel',
  machines: 'one writes, any number read',
  supports,
  // Otherwise the tests of the toolbox, which write much, wait for the engine to see what it has compacted.
  make: (location, options) => new SlateLevel(location, { ...options, ...soon, pollIntervalMs: 500 }),
  several: {},
  known
}

/**
 * It looks into the store less often than by default: the suite leaves hundreds of databases open, and the test's server would do
 * little else. This is no option of the constructor, because hooks see those.
 */
class SeldomPolling extends SlateLevel {
  _open(options) {
    return super._open({ ...options, pollIntervalMs: 60_000 })
  }
}

/** @type {import('../targets.js').Target} */
export const slateOnS3 = {
  ...slate,
  name: 'SlateLevel on S3',
  make: (location, options) =>
    new SeldomPolling(storeLocation(location), { ...options, ...soon, ...storeOptions() }),
  server: objectStore,
  timeoutMs: 3_600_000
}

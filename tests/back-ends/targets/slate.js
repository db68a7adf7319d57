import { SlateLevel } from 'terrace-slatedb'
import { known } from '../known/slate.js'
import { objectStore, storeLocation, storeOptions } from '../servers.js'

const supports = { getSync: false, putSync: false, everyWrite: true }
/** Writes wait for none, so that tests are short. Each is in the store before it is acknowledged all the same. */
const soon = { flushIntervalMs: 0 }

/** A SlateLevel that looks into its store so often. This is no option of the constructor, because hooks see those. */
const pollingEach = (pollIntervalMs) =>
  class extends SlateLevel {
    _open(options) {
      return super._open({ ...options, pollIntervalMs })
    }
  }

/** The engine lets writes, and its end, wait until it has seen what was compacted. These tests write much. */
const Often = pollingEach(50)
/** The suite leaves hundreds of databases open, and the test's server would do little else. */
const Seldom = pollingEach(3_600_000)

/** @type {import('../targets.js').Target} */
export const slate = {
  name: 'SlateLevel',
  machines: 'one writes, any number read',
  supports,
  make: (location, options) => new Often(location, { ...options, ...soon }),
  several: {},
  known
}

/** @type {import('../targets.js').Target} */
export const slateOnS3 = {
  ...slate,
  name: 'SlateLevel on S3',
  make: (location, options) =>
    new Seldom(storeLocation(location), { ...options, ...soon, ...storeOptions() }),
  server: objectStore,
  repeats: ['index', 'transaction', 'ttl', 'feed', 'lock', 'streams'],
  timeoutMs: 3_600_000
}

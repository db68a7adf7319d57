// What tests/back-ends runs over, and bench/back-ends measures.

import { fileURLToPath } from 'node:url'
import { SlateLevel } from 'terrace-slatedb'
import { HANG_MS } from '../../../../../tests/support/waiting.mjs'
import { objectStore, storeLocation, storeOptions } from './store.js'

const supports = { getSync: false, putSync: false, everyWrite: true, conditionalWrites: false }
/** Writes wait for none, so that tests are short. Each is in the store before it is acknowledged all the same. */
const soon = { flushIntervalMs: 0 }

/** A SlateLevel that looks into its store so often, however slow that is. These are no options of the constructor, because hooks see those. */
const pollingEach = (pollIntervalMs) =>
  class extends SlateLevel {
    _open(options) {
      return super._open({ ...options, pollIntervalMs, deadlineMs: HANG_MS })
    }
  }

/** The engine lets writes, and its end, wait until it has seen what was compacted. These tests write much. */
const Often = pollingEach(50)
/** The suite leaves hundreds of databases open, and the test's server would do little else. */
const Seldom = pollingEach(3_600_000)

const slate = {
  name: 'SlateLevel',
  machines: 'one writes, any number read',
  supports,
  make: (location, options) => new Often(location, { ...options, ...soon }),
  several: {},
  known: {}
}

/** @type {import('../../../../../tests/back-ends/targets.js').Target[]} */
export const targets = [
  slate,
  {
    ...slate,
    name: 'SlateLevel on S3',
    make: (location, options) =>
      new Seldom(storeLocation(location), { ...options, ...soon, ...storeOptions() }),
    server: objectStore,
    repeats: ['index', 'transaction', 'ttl', 'feed', 'lock', 'streams'],
    timeoutMs: 3_600_000,
    isVariant: true
  }
]

/** @type {import('../../../../../tests/back-ends/targets.js').Measured[]} */
export const measured = [
  { name: 'SlateLevel', from: 'terrace-slatedb' },
  {
    name: 'SlateLevel on S3',
    from: fileURLToPath(new URL('measured-on-s3.js', import.meta.url)),
    server: objectStore
  }
]

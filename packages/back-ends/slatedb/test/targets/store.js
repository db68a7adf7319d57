// The server of S3 that targets need, which is started once in a run.

import { createHash } from 'node:crypto'
import { missing, Store } from '../support/store.js'

/** The suite makes hundreds of databases. In one bucket, each listing would take seconds with this server. */
const BUCKETS = Array.from({ length: 64 }, (_, i) => `bucket-${i}`)

/**
 * A server of S3, with empty buckets.
 *
 * @type {import('../../../../../tests/back-ends/targets.js').Server}
 */
export const objectStore = {
  missing: () => missing,
  async start() {
    const store = await Store.start({ buckets: BUCKETS })
    return {
      environment: { TERRACE_TEST_STORE: JSON.stringify(store.directOptions) },
      stop: async () => store.stop()
    }
  }
}

/** Where the database of a location is in the running server of S3. */
export function storeLocation(location) {
  const [byte] = createHash('sha1').update(location).digest()
  return `s3://${BUCKETS[byte % BUCKETS.length]}${location}`
}

/** The options of a database in the running server of S3. */
export function storeOptions() {
  return JSON.parse(process.env.TERRACE_TEST_STORE)
}

// The servers that targets need. Each is started once in a run, by what the tests of its back-end start it with, and tells the
// processes of the run by the environment how to reach it.

import { createHash } from 'node:crypto'
import {
  clusterMissing,
  serverMissing,
  startCluster,
  startServer
} from '../../packages/back-ends/mysql/test/cluster/index.js'
import { mariadb, mysql } from '../../packages/back-ends/mysql/test/cluster/products.js'
import { UNSYNCED } from '../../packages/back-ends/mysql/test/support/server.js'
import { Store, missing as storeMissing } from '../../packages/back-ends/slatedb/test/support/store.js'

/** @typedef {import('./targets.js').Server} Server */

/** The suite makes hundreds of databases. In one bucket, each listing would take seconds with this server. */
const BUCKETS = Array.from({ length: 64 }, (_, i) => `bucket-${i}`)

/** A server of S3, with empty buckets. */
export const objectStore = {
  missing: () => storeMissing,
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

/** The variables that tell the address of a server of each product. */
const variableOf = new Map([
  [mariadb, 'TERRACE_TEST_SERVER'],
  [mysql, 'TERRACE_TEST_MYSQL_SERVER']
])

/** One server of a product, whose commits wait for the disk or not. */
function server(product, args) {
  return {
    missing: () => serverMissing(product),
    async start() {
      const started = await startServer({ product, args })
      return { environment: { [variableOf.get(product)]: started.url }, stop: () => started.stop() }
    }
  }
}

/** For tests, which are not about the disk. */
export const oneServer = server(mariadb, UNSYNCED)
export const oneServerOfMysql = server(mysql, UNSYNCED)

/** With the settings that it has by itself. */
export const durableServer = server(mariadb, [])
export const durableServerOfMysql = server(mysql, [])

/** Three nodes. */
export const cluster = {
  missing: clusterMissing,
  async start() {
    const started = await startCluster()
    const urls = started.nodes.map((_, index) => started.urlFrom(index))
    return { environment: { TERRACE_TEST_CLUSTER: JSON.stringify(urls) }, stop: () => started.stop() }
  }
}

/** The address of the running server of MariaDB. */
export function serverUrl() {
  return process.env[variableOf.get(mariadb)]
}

/** The address of the running server of MySQL. */
export function urlOfMysql() {
  return process.env[variableOf.get(mysql)]
}

/** The address of the running cluster, whose node of this index is used first. */
export function clusterUrl(index) {
  return JSON.parse(process.env.TERRACE_TEST_CLUSTER)[index]
}

// The servers for targets. Each is started once per run, in the same way as by the package's tests. The processes of the run
// get its address through the environment.

import { clusterMissing, serverMissing, startCluster, startServer } from '../cluster/index.js'
import { mariadb, mysql } from '../cluster/products.js'
import { UNSYNCED } from '../support/server.js'

/** @typedef {import('../../../../../tests/back-ends/targets.js').Server} Server */

/** The environment variable with the address of each product's server. */
const variableOf = new Map([
  [mariadb, 'TERRACE_TEST_SERVER'],
  [mysql, 'TERRACE_TEST_MYSQL_SERVER']
])

/** One server of a product. The arguments determine whether its commits wait for the disk. */
function server(product, args) {
  return {
    missing: () => serverMissing(product),
    async start() {
      const started = await startServer({ product, args })
      return { environment: { [variableOf.get(product)]: started.url }, stop: () => started.stop() }
    }
  }
}

/** For tests that do not involve the disk. */
export const oneServer = server(mariadb, UNSYNCED)
export const oneServerOfMysql = server(mysql, UNSYNCED)

/** With the server's default settings. */
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

/** The address of the running cluster, where the node of this index is used first. */
export function clusterUrl(index) {
  return JSON.parse(process.env.TERRACE_TEST_CLUSTER)[index]
}

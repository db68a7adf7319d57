// Servers and clusters for tests. They end with the program that started them, if nobody stops them before.
//
//   const server = await startServer()      // { url, stop(), kill(), suspend(), resume(), start(), query(sql) }
//   const cluster = await startCluster()    // { nodes: [{ url, … }], url, stop(), rejoin(node), restart() }
//
// `serverMissing()` and `clusterMissing()` return the reason if this machine lacks what they need.

import { Cluster } from './cluster.js'
import { freePorts } from './ports.js'
import { newAccounts, Server } from './server.js'

export { clusterMissing, serverMissing } from './installation.js'

/**
 * Starts one server with an empty schema. That takes about two seconds.
 *
 * @param args - Further arguments of mariadbd.
 */
export async function startServer({ args = [] } = {}) {
  const server = new Server('server', await freePorts(1), newAccounts(), args)
  try {
    await server.install()
    await server.start()
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

/**
 * Starts a cluster of three nodes. That takes about 25 seconds, and 131 MB a node.
 *
 * @param options - `size`, and `provider`: further options of Galera.
 */
export const startCluster = (options) => Cluster.start(options)

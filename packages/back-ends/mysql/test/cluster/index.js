// Servers and clusters for tests. They end with the program that started them, unless they are stopped earlier.
//
//   const server = await startServer()      // { url, stop(), kill(), suspend(), resume(), start(), query(sql) }
//   const cluster = await startCluster()    // { nodes: [{ url, … }], url, stop(), rejoin(node), restart() }
//
// `serverMissing()` and `clusterMissing()` return the reason if this machine lacks what they need.

import { Cluster } from './cluster.js'
import { galeraMissing } from './installation.js'
import { freePorts } from './ports.js'
import { mariadb, theProduct } from './products.js'
import { Server } from './server.js'
import { newServer } from './template.js'

/** Why no server can be started here, or undefined if one can. A skipped test prints it. */
export const serverMissing = (product = theProduct) => product.missing()

/** Why no cluster can be started here, or undefined if one can. */
export const clusterMissing = () => mariadb.missing() ?? galeraMissing()

/**
 * Starts one server with an empty schema. This takes less than a second, and a few more for the first one on a machine.
 *
 * @param options - `args`: further arguments; `product`: one of products.js, by default the one named in the environment.
 */
export async function startServer({ args = [], product = theProduct } = {}) {
  const server = new Server(product, 'server', await freePorts(1), await newServer(product), args)
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
 * Starts a cluster of three nodes. This takes about 25 seconds, and 131 MB per node.
 *
 * @param options - `size`, and `provider`: further options of Galera.
 */
export const startCluster = (options) => Cluster.start(options)

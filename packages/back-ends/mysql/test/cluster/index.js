// Servers and clusters for tests. They end with the program that started them, if nobody stops them before.
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

/** Why no server can be started here, or undefined if one can. A test that is left out prints it. */
export const serverMissing = (product = theProduct) => product.missing()

/** Why no cluster can be started here, or undefined if one can. */
export const clusterMissing = () => mariadb.missing() ?? galeraMissing()

/**
 * Starts one server with an empty schema. That takes less than a second, and a few more for the first one on this machine.
 *
 * @param options - `args`: further arguments; `product`: of products.js, else the one that the environment names.
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
 * Starts a cluster of three nodes. That takes about 25 seconds, and 131 MB a node.
 *
 * @param options - `size`, and `provider`: further options of Galera.
 */
export const startCluster = (options) => Cluster.start(options)

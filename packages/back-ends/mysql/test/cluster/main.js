// Starts a cluster to play with, prints its addresses, and ends it on Ctrl-C.
//
//   node packages/back-ends/mysql/test/cluster/main.js [--single]
//
// `--single` starts one server instead. The data is temporary.

import { parseArgs } from 'node:util'
import { clusterMissing, serverMissing, startCluster, startServer } from './index.js'

const { single } = parseArgs({ options: { single: { type: 'boolean', default: false } } }).values
const missing = single ? serverMissing() : clusterMissing()
if (missing !== undefined) {
  console.error(missing)
  process.exit(1)
}

if (single) {
  const server = await startServer()
  console.log(`server\t${server.url}\tprocess ${server.pid}\t${server.directory}`)
} else {
  console.error('starting three nodes; this takes a while')
  const cluster = await startCluster()
  for (const node of cluster.nodes) {
    console.log(`${node.name}\t${node.url}\tprocess ${node.pid}\t${node.directory}`)
  }
  console.log(`all\t${cluster.url}`)
}
console.error('Ctrl-C ends it and removes its data')
// The signal ends the program, and with it the servers.
setInterval(() => {}, 1 << 30)

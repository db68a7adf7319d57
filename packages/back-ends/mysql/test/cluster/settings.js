// The arguments of servers: common ones, and those of a cluster's nodes.

import { join } from 'node:path'
import { galeraLibrary } from './installation.js'
import { LOOPBACK } from './ports.js'

/** How many successive ports a node uses: for clients, the group, and incremental and full transfers of state. */
export const PORTS_OF_NODE = 4

/**
 * The arguments of any server. They keep it small; otherwise it has the defaults, so that commits wait for the disk.
 */
export function serverArguments({ directory, port, product }) {
  return [
    '--no-defaults',
    `--datadir=${join(directory, 'data')}`,
    `--tmpdir=${directory}`,
    `--pid-file=${join(directory, 'server.pid')}`,
    `--socket=${join(directory, 'server.sock')}`,
    `--bind-address=${LOOPBACK}`,
    `--port=${port}`,
    '--skip-name-resolve',
    '--max-connections=400',
    '--performance-schema=OFF',
    ...product.arguments
  ]
}

/**
 * The arguments that make a server a node of a cluster. Everything listens on 127.0.0.1.
 *
 * @param groupPorts - The ports of the group of all nodes.
 * @param provider - Further options of Galera, such as `{ 'evs.suspect_timeout': 'PT2S' }`.
 */
export function clusterArguments({ name, port, groupPorts, provider = {} }) {
  const [groupPort, incrementalPort, transferPort] = [port + 1, port + 2, port + 3]
  const options = {
    base_host: LOOPBACK,
    base_port: groupPort,
    'gmcast.listen_addr': `tcp://${LOOPBACK}:${groupPort}`,
    'ist.recv_addr': `${LOOPBACK}:${incrementalPort}`,
    'ist.recv_bind': `${LOOPBACK}:${incrementalPort}`,
    // How much a node may miss and still catch up automatically.
    'gcache.size': '64M',
    ...provider
  }
  return [
    '--wsrep-on=ON',
    `--wsrep-provider=${galeraLibrary}`,
    '--wsrep-cluster-name=terrace',
    `--wsrep-cluster-address=gcomm://${groupPorts.map((each) => `${LOOPBACK}:${each}`).join(',')}`,
    `--wsrep-node-name=${name}`,
    `--wsrep-node-address=${LOOPBACK}:${groupPort}`,
    `--wsrep-node-incoming-address=${LOOPBACK}:${port}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=${LOOPBACK}:${transferPort}`,
    `--wsrep-provider-options=${Object.entries(options)
      .map(([key, value]) => `${key}=${value}`)
      .join(';')}`,
    '--binlog-format=ROW',
    '--default-storage-engine=InnoDB',
    '--innodb-autoinc-lock-mode=2'
  ]
}

/** The group port of a node, from its port for clients. */
export const groupPortOf = (port) => port + 1

// A Galera cluster on 127.0.0.1: every node holds all data and accepts writes.

import { HANG_MS } from '../../../../../tests/support/waiting.mjs'
import { Node } from './node.js'
import { freePorts, LOOPBACK } from './ports.js'
import { mariadb } from './products.js'
import { groupPortOf, PORTS_OF_NODE } from './settings.js'
import { newServer, SCHEMA } from './template.js'
import { until } from './waiting.js'

/** A cluster whose nodes can be killed, suspended and restarted one by one. */
export class Cluster {
  /** Makes a cluster, and waits until all nodes serve. If one does not start, all of it is removed. */
  static async start({ size = 3, provider } = {}) {
    const files = await newServer(mariadb)
    const ports = []
    while (ports.length < size) ports.push(await freePorts(PORTS_OF_NODE))
    const groupPorts = ports.map(groupPortOf)
    const nodes = ports.map((port, i) => new Node(`node${i + 1}`, port, files, { groupPorts, provider }))
    const cluster = new Cluster(nodes)
    try {
      const installed = await Promise.allSettled(nodes.map((node) => node.install()))
      for (const { reason } of installed) if (reason !== undefined) throw reason
      await nodes[0].bootstrap()
      // A node transfers its state to one other node at a time.
      for (const node of nodes.slice(1)) await node.start()
      return cluster
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  constructor(nodes) {
    this.nodes = nodes
  }

  /** The address of all nodes, starting with the first. */
  get url() {
    return this.urlFrom(0)
  }

  /** The address of all nodes, starting with the one of this index, which a new database therefore uses. */
  urlFrom(index) {
    const { user, password } = this.nodes[0].accounts.user
    const ordered = [...this.nodes.slice(index), ...this.nodes.slice(0, index)]
    return `mysql://${user}:${password}@${ordered.map(({ port }) => `${LOOPBACK}:${port}`).join(',')}/${SCHEMA}`
  }

  /** Restarts a node that has ended, while the others run, and waits until it has caught up. */
  async rejoin(node) {
    await node.rejoin()
    await this.settled()
  }

  /**
   * Waits until all nodes serve after one of them has hung. A node ends if it has missed more than the others can still send. Like
   * a supervisor, this restarts it, so that it gets a full copy.
   *
   * @returns How many nodes it has restarted.
   */
  async healed(limitMs = HANG_MS) {
    const end = performance.now() + limitMs
    let started = 0
    for (;;) {
      const ended = this.nodes.filter((node) => !node.isRunning)
      for (const node of ended) await node.rejoin()
      started += ended.length
      try {
        await this.settled(2000)
        return started
      } catch (error) {
        if (performance.now() > end) throw error
      }
    }
  }

  /** Waits until all running nodes form one majority and serve. */
  async settled(limitMs = HANG_MS) {
    const running = this.nodes.filter((node) => node.isRunning)
    await until(`${running.length} nodes form a cluster`, limitMs, async () => {
      for (const node of running) {
        const status = await node.status()
        const isWhole =
          status.wsrep_cluster_status === 'Primary' && Number(status.wsrep_cluster_size) === running.length
        if (!isWhole || status.wsrep_ready !== 'ON' || status.wsrep_local_state_comment !== 'Synced')
          return undefined
      }
      return true
    })
  }

  /**
   * Restarts a cluster without running nodes: first the node with the most advanced data, then the others.
   *
   * @returns The positions of the nodes, and which was first.
   */
  async restart() {
    const positions = []
    for (const node of this.nodes) positions.push((await node.position()).seqno)
    const first = positions.indexOf(Math.max(...positions))
    await this.nodes[first].bootstrap()
    for (const node of this.nodes) if (!node.isRunning) await node.rejoin()
    await this.settled()
    return { positions, first }
  }

  /**
   * Restarts a cluster without running nodes, all at the same time. Each node has recorded the cluster's members, and once all of
   * them have returned, they resume without being given a first node.
   */
  async restartTogether() {
    for (const node of this.nodes) await node.launchFromPosition()
    await this.settled()
  }

  /** Ends all nodes permanently, and removes their data. */
  async stop() {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }
}

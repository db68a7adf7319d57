// A node of a Galera cluster.

import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HANG_MS } from '../../../../../tests/support/waiting.mjs'
import { asServerUser } from './installation.js'
import { mariadb } from './products.js'
import { ANSWER_LIMIT_MS, Server } from './server.js'
import { clusterArguments } from './settings.js'

/** The status variables that are used here. */
const STATUS = [
  'wsrep_cluster_status',
  'wsrep_cluster_size',
  'wsrep_local_state_comment',
  'wsrep_ready',
  'wsrep_last_committed'
]

/** A node. It serves once it has caught up with a cluster that has a majority. */
export class Node extends Server {
  constructor(name, port, files, options) {
    super(mariadb, name, port, files, clusterArguments({ ...options, name, port }))
  }

  /** Its status as an object: `wsrep_cluster_status`, `wsrep_cluster_size` and so on, all as text. */
  async status() {
    const rows = await this.query("SHOW GLOBAL STATUS LIKE 'wsrep\\_%'", ANSWER_LIMIT_MS)
    return Object.fromEntries(
      rows.filter((row) => STATUS.includes(row.Variable_name)).map((row) => [row.Variable_name, row.Value])
    )
  }

  async isServing() {
    const status = await this.status()
    return status.wsrep_ready === 'ON' && status.wsrep_local_state_comment === 'Synced'
  }

  /** Makes this node the first of a cluster, with its existing data. */
  async bootstrap() {
    this.#markSafe()
    await this.start(['--wsrep-new-cluster'])
  }

  /** Makes this running node, which has lost the majority, a majority of one. The lost nodes must not have continued. */
  async becomeMajority() {
    await this.query("SET GLOBAL wsrep_provider_options='pc.bootstrap=1'")
    await this.ready()
  }

  /** Restarts a node that has ended, beside others that serve. If they still have what it lacks, it gets only that. */
  async rejoin() {
    await this.launchFromPosition()
    await this.ready()
  }

  /** The same, without waiting for the others. */
  async launchFromPosition() {
    const { uuid, seqno } = await this.position()
    this.launch(seqno < 0 ? [] : [`--wsrep-start-position=${uuid}:${seqno}`])
  }

  /**
   * The position of a node whose process has ended: the cluster of its data, and how many of the cluster's transactions the data
   * includes. A killed node has not recorded it, so its log is recovered.
   */
  async position() {
    const noted = this.#grastate()
    if (noted.seqno >= 0) return noted
    const [program, ...args] = asServerUser([...mariadb.command(), ...this.arguments, '--wsrep-recover'])
    const { stderr } = await promisify(execFile)(program, args, {
      timeout: HANG_MS,
      killSignal: 'SIGKILL'
    })
    const position = /Recovered position:? *([0-9a-f-]+):(-?\d+)/.exec(stderr)
    if (position === null) throw new Error(`${this.name}: no position was recovered:\n${stderr.slice(-2000)}`)
    return { uuid: position[1], seqno: Number(position[2]) }
  }

  #grastate() {
    const text = readFileSync(this.#grastatePath, 'utf8')
    const [, uuid] = /^uuid: *(\S+)/m.exec(text)
    const [, seqno] = /^seqno: *(-?\d+)/m.exec(text)
    return { text, uuid, seqno: Number(seqno) }
  }

  /** Galera refuses to bootstrap from a node that may lack transactions. The caller knows that this one has them all. */
  #markSafe() {
    let state
    try {
      state = this.#grastate()
    } catch (error) {
      // A new node has no state yet.
      if (error.code === 'ENOENT') return
      throw error
    }
    writeFileSync(this.#grastatePath, state.text.replace(/^safe_to_bootstrap:.*$/m, 'safe_to_bootstrap: 1'))
  }

  get #grastatePath() {
    return join(this.directory, 'data', 'grastate.dat')
  }
}

// The common parts of all scenarios: a cluster, an audited database in it, and the judgement.

import { MysqlLevel } from 'terrace-mysql'
import { HANG_MS } from '../../../../../../tests/support/waiting.mjs'
import { clearAudit, installAudit, readAudit } from './audit.js'
import { judge } from './oracle.js'
import { Load } from './processes.js'

/** The table of the database under test. */
const TABLE = 'faults'

/**
 * Options of the databases: a deadline that is short compared to the faults, unless a scenario overrides it.
 */
export const baseOptions = { table: TABLE, name: 'faults', poolSize: 8, deadlineMs: 4000 }

/** For databases outside the faults: creating the tables on all nodes takes long on a slow disk. */
export const patient = { deadlineMs: HANG_MS }

/** A cluster with the database under test. Scenarios run on it one after another. */
export class Scene {
  constructor(cluster) {
    this.cluster = cluster
  }

  async prepare() {
    await this.withLevel(this.cluster.nodes[0].url, async () => {}, patient)
    await installAudit(this.cluster.nodes[0], `terrace.${TABLE}`)
  }

  /** The options of a writer or reader that prefers the node of this index. */
  at(index, options = {}) {
    return { url: this.cluster.urlFrom(index), options: { ...baseOptions, ...options } }
  }

  /** Runs `fn` with an open database. */
  async withLevel(url, fn, options = {}) {
    const db = new MysqlLevel(url, { ...baseOptions, ...options })
    await db.open()
    try {
      return await fn(db)
    } finally {
      await db.close()
    }
  }

  /** The entries that a node holds. */
  entriesOf(node) {
    return this.withLevel(node.url, (db) => db.iterator().all(), patient)
  }

  /** Removes what earlier scenarios have written. */
  async clear() {
    await this.withLevel(this.cluster.nodes[0].url, (db) => db.clear(), patient)
    await clearAudit(this.cluster.nodes[0])
  }

  /** The node with the most database connections. */
  async busiest() {
    const counts = []
    for (const node of this.cluster.nodes) {
      const sql = `SELECT COUNT(*) AS count FROM information_schema.processlist WHERE user = '${node.accounts.user.user}'`
      counts.push(node.isRunning ? Number((await node.query(sql))[0].count) : -1)
    }
    return this.cluster.nodes[counts.indexOf(Math.max(...counts))]
  }

  /**
   * Runs `fn` with writers and readers, stops them afterwards, and judges the outcome.
   *
   * @param fn - Gets the load. Returns additional counts, or nothing.
   * @param afterwards - Called when the writers have ended. Returns further counts.
   */
  async underLoad(fn, afterwards = () => undefined) {
    await this.clear()
    const load = new Load()
    try {
      const own = await fn(load)
      const { writes, reopened, readers } = await load.stop()
      const later = await afterwards()
      await this.cluster.settled()
      const nodes = []
      for (const node of this.cluster.nodes) if (node.isRunning) nodes.push(await this.entriesOf(node))
      const changes = await readAudit(this.cluster.nodes.find((node) => node.isRunning))
      return { ...judge({ writes, changes, nodes }), reopened, ...readersTogether(readers), ...own, ...later }
    } finally {
      load.end()
    }
  }
}

/** The combined counts of all readers; empty if there were none. */
function readersTogether(readers) {
  if (readers.length === 0) return {}
  const sum = { snapshots: 0, states: 0, tornSnapshots: 0, changedSnapshots: 0, failedReads: {} }
  for (const { snapshots, states, torn, changed, failed } of readers) {
    sum.snapshots += snapshots
    sum.states += states
    sum.tornSnapshots += torn
    sum.changedSnapshots += changed
    for (const [code, count] of Object.entries(failed))
      sum.failedReads[code] = (sum.failedReads[code] ?? 0) + count
  }
  return sum
}

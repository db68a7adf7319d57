// Counters that several raise at once.

import { MysqlLevel } from 'terrace-mysql'
import { transactions } from 'terrace-toolbox/transaction'
import { outcomeOf } from '../outcomes.js'
import { baseOptions, patient } from '../scene.js'

const COUNTER = 'counter'
const LANES = 4

/**
 * Raises a counter in the toolbox's transactions, several at once in one process, while the node in use is killed.
 *
 * @returns What came of it. `lost` counts acknowledged increments that the counter lacks, `tooMany` those that it has beyond all
 * that may be stored.
 */
export async function incrementsInTransactions(scene, { increments }) {
  await scene.clear()
  const { url, options } = scene.at(0)
  const db = new MysqlLevel(url, { ...options, shared: false })
  const transaction = transactions(db)
  const counts = { operations: 0, acknowledged: 0, failed: {}, unknown: 0 }
  let victim

  const lane = async () => {
    while (counts.operations < increments) {
      counts.operations++
      if (counts.operations === increments >> 1) {
        victim = await scene.busiest()
        await victim.kill()
      }
      count(counts, await outcome(() => transaction.update(COUNTER, (value = '0') => `${Number(value) + 1}`)))
    }
  }
  try {
    await Promise.all(Array.from({ length: LANES }, lane))
  } finally {
    await db.close()
  }
  await scene.cluster.rejoin(victim)
  const final = await finalCount(scene)
  return {
    ...counts,
    final,
    lost: Math.max(0, counts.acknowledged - final),
    tooMany: Math.max(0, final - counts.acknowledged - counts.unknown)
  }
}

/** Raises a counter from all three nodes by get and put, without transactions. Some increments are lost, as on any database. */
export async function incrementsWithoutTransactions(scene, { increments }) {
  await scene.clear()
  const counts = { operations: 0, acknowledged: 0, failed: {}, unknown: 0 }
  const dbs = scene.cluster.nodes.map((node) => new MysqlLevel(node.url, { ...baseOptions, ...patient }))
  const lane = async (db) => {
    for (let i = 0; i < increments; i++) {
      counts.operations++
      const increment = async () => db.put(COUNTER, `${Number((await db.get(COUNTER)) ?? 0) + 1}`)
      count(counts, await outcome(increment))
    }
  }
  try {
    await Promise.all(dbs.map(lane))
  } finally {
    await Promise.all(dbs.map((db) => db.close()))
  }
  return { ...counts, overwrittenByOthers: counts.acknowledged - (await finalCount(scene)) }
}

const outcome = (call) => call().then(() => outcomeOf(undefined), outcomeOf)

function count(counts, { outcome, code }) {
  if (outcome === 'failed') counts.failed[code] = (counts.failed[code] ?? 0) + 1
  else counts[outcome]++
}

const finalCount = (scene) =>
  scene.withLevel(scene.cluster.nodes[1].url, async (db) => Number((await db.get(COUNTER)) ?? 0), patient)

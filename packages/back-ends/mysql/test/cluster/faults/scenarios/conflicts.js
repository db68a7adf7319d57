// Writers on different nodes that overwrite the same keys, and what is read on other nodes.

import { MysqlLevel } from 'terrace-mysql'
import { baseOptions, patient } from '../scene.js'

/** A writer on each node, whose batches conflict, and readers of snapshots on each. */
export async function conflictingWriters(scene, { writes }) {
  return scene.underLoad(async (load) => {
    await load.write([1, 2, 3].map((writer) => ({ ...scene.at(writer - 1, patient), writer, depth: 2 })))
    await load.read([0, 1, 2].map((index) => scene.at(index, patient)))
    await load.advance(writes)
  })
}

/**
 * A value is written on one node and read on another one as soon as that is acknowledged.
 *
 * @returns How many reads there were, and how many of them showed an older value.
 */
export async function readsAfterWrites(scene, { reads, waitForSync }) {
  await scene.clear()
  const open = async (index) => {
    const db = new MysqlLevel(scene.cluster.nodes[index].url, { ...baseOptions, ...patient, waitForSync })
    await db.open()
    return db
  }
  const [writer, reader, other] = [await open(0), await open(1), await open(2)]
  // The node that reads has more to do than the one that writes.
  const bulk = Array.from({ length: 20 }, (_, i) => ({
    type: 'put',
    key: `bulk/${i}`,
    value: 'x'.repeat(20_000)
  }))
  let stale = 0
  try {
    for (let i = 0; i < reads; i++) {
      const pending = other.batch(bulk)
      await writer.put('fresh', `${i}`)
      if ((await reader.get('fresh')) !== `${i}`) stale++
      await pending
    }
  } finally {
    await Promise.all([writer, reader, other].map((db) => db.close()))
  }
  return { reads, stale }
}

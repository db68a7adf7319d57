// Two of three nodes are killed, and all three.

import { now } from '../clock.js'
import { outcomeOf } from '../outcomes.js'

/**
 * Two nodes are killed: the third has no majority and refuses requests. Once another node has returned, the writers
 * continue.
 *
 * @param size - `waitMs` is how long the cluster may take to find its majority automatically, before one is forced.
 */
export async function twoNodesAreKilled(scene, { writes, probes, waitMs }) {
  return scene.underLoad(async (load) => {
    await load.write([1, 2].map((writer) => ({ ...scene.at(0), writer, depth: writer })))
    await load.advance(writes)
    const [survivor, ...killed] = scene.cluster.nodes
    const refused = await scene.withLevel(scene.cluster.urlFrom(0), async (db) => {
      await db.get('own/1')
      await Promise.all(killed.map((node) => node.kill()))
      return refusals(db, probes)
    })

    const [first, second] = killed
    await first.launchFromPosition()
    const isBack = await survivor.ready(waitMs).then(
      () => true,
      () => false
    )
    if (!isBack) await survivor.becomeMajority()
    await first.ready()
    await load.advance(writes)
    await scene.cluster.rejoin(second)
    return { ...refused, recoveredBy: isBack ? 'itself' : 'pc.bootstrap' }
  })
}

/** The results of reads and writes without a majority, by code, and the slowest refusal. None should be answered. */
async function refusals(db, probes) {
  const counts = { refused: {}, answered: 0, untypedRefusals: 0, slowestRefusalMs: 0 }
  const calls = {
    put: (i) => db.put(`u/probe/${i}`, '0.0.'),
    get: () => db.get('own/1'),
    iterate: () => db.iterator({ limit: 1 }).all()
  }
  for (let i = 0; i < probes; i++) {
    for (const [name, call] of Object.entries(calls)) {
      const start = now()
      const { code } = await call(i).then(() => outcomeOf(undefined), outcomeOf)
      counts.slowestRefusalMs = Math.max(counts.slowestRefusalMs, Math.round(now() - start))
      if (code === undefined) counts.answered++
      else if (!code.startsWith('LEVEL_')) counts.untypedRefusals++
      const kind = `${name} ${code ?? 'answered'}`
      counts.refused[kind] = (counts.refused[kind] ?? 0) + 1
    }
  }
  return counts
}

/**
 * All nodes are killed at once under writers and restarted: alternately starting with the most advanced, and all at once.
 */
export async function allNodesAreKilled(scene, { writes, rounds }) {
  return scene.underLoad(async (load) => {
    await load.write(
      [1, 2, 3, 4].map((writer) => ({ ...scene.at(writer % 3), writer, depth: writer > 2 ? 4 : 1 }))
    )
    for (let round = 0; round < rounds; round++) {
      await load.advance(writes)
      await Promise.all(scene.cluster.nodes.map((node) => node.kill()))
      if (round % 2 === 0) await scene.cluster.restart()
      else await scene.cluster.restartTogether()
      await load.advance(writes)
    }
    return { restarts: rounds }
  })
}

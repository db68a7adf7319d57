// The short form of `make cluster-faults`: a cluster is broken in several ways while it is used. Long: it takes about two minutes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScenario, SCENARIOS } from './cluster/faults/plan.js'
import { Scene } from './cluster/faults/scene.js'
import { clusterMissing, startCluster } from './cluster/index.js'

const FORM = 'short'

test('a cluster under faults', { skip: clusterMissing() }, async (t) => {
  const cluster = await startCluster()
  t.after(() => cluster.stop())
  const scene = new Scene(cluster)
  await scene.prepare()

  for (const [name, { title, [FORM]: size }] of Object.entries(SCENARIOS)) {
    if (size === undefined) continue
    await t.test(title, async (t) => {
      const { counts, faults } = await runScenario(scene, name, FORM)
      t.diagnostic(JSON.stringify(counts))
      assert.deepEqual(faults, {})
      // A run in which nothing was acknowledged proves nothing.
      assert.ok((counts.acknowledged ?? counts.reads) > 0)
    })
  }
})

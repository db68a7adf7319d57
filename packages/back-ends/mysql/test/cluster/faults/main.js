// Breaks a cluster in several ways while it is used, and counts what became of the writes:
//
//   node packages/back-ends/mysql/test/cluster/faults/main.js [--form short] [--only kill,all] [--json FILE]
//
// Prints a Markdown table. The exit code is 1 if a count is not zero that should be.

import { writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { clusterMissing, startCluster } from '../index.js'
import { runScenario, SCENARIOS } from './plan.js'
import { table } from './report.js'
import { Scene } from './scene.js'

const { form, only, json } = parseArgs({
  options: {
    form: { type: 'string', default: 'full' },
    only: { type: 'string' },
    json: { type: 'string' }
  }
}).values

const missing = clusterMissing()
if (missing !== undefined) {
  console.error(`skipped: ${missing}`)
  process.exit(0)
}

const cluster = await startCluster()
const scene = new Scene(cluster)
await scene.prepare()
const [{ version }] = await cluster.nodes[0].query('SELECT version() AS version')
const results = []
for (const name of only?.split(',') ?? Object.keys(SCENARIOS)) {
  if (SCENARIOS[name][form] === undefined) continue
  const result = await runScenario(scene, name, form)
  results.push(result)
  console.error(`${name}: ${JSON.stringify(result.counts)}, ${result.seconds} s`)
  if (Object.keys(result.faults).length > 0) {
    console.error(`${name}: should be zero: ${JSON.stringify(result.faults)}`)
    process.exitCode = 1
  }
}
await cluster.stop()

const machine = {
  cpu: cpus()[0].model,
  cores: cpus().length,
  kernel: release(),
  node: process.version,
  mariadb: version
}
if (json !== undefined)
  writeFileSync(json, `${JSON.stringify({ date: new Date().toISOString(), machine, results }, null, 2)}\n`)
console.log(table(results))

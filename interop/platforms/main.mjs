// Runs the addon's builds wherever this machine can: each job in each runtime, with a table of the counts at the end.
//
//   node main.mjs [--runtime NAME] [--job NAME] [--results FILE]
//
// What is run replaces its own entries in FILE, and the others stay.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { addonFile } from '../../packages/terrace/scripts/cargo-build.mjs'
import { JOBS } from './jobs.mjs'
import { RUNTIMES } from './runtimes.mjs'
import { table } from './table.mjs'

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', multiple: true, default: RUNTIMES.map(({ name }) => name) },
    job: { type: 'string', multiple: true, default: Object.keys(JOBS) },
    results: { type: 'string' }
  }
})

function missingFor(runtime) {
  if (!existsSync(addonFile(runtime.build))) return `not built: make prebuilds PLATFORMS=${runtime.build}`
  return runtime.missing()
}

async function main() {
  for (const [list, known] of [
    [values.runtime, RUNTIMES.map(({ name }) => name)],
    [values.job, Object.keys(JOBS)]
  ]) {
    const unknown = list.filter((name) => !known.includes(name))
    if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}. There are ${known.join(', ')}`)
  }

  const isKept = values.results && existsSync(values.results)
  const results = isKept ? JSON.parse(readFileSync(values.results, 'utf8')) : {}
  for (const runtime of RUNTIMES.filter(({ name }) => values.runtime.includes(name))) {
    const entry = { ...results[runtime.name], build: runtime.build, skipped: missingFor(runtime) }
    results[runtime.name] = entry
    if (entry.skipped) continue
    for (const name of values.job) {
      console.log(`platforms: ${name} in ${runtime.name}`)
      const counts = await JOBS[name](runtime)
      if (!counts) continue
      const { failures, ...kept } = counts
      for (const failure of failures) console.log(failure)
      entry[name] = kept
      if (kept.failed > 0) process.exitCode = 1
    }
    if (values.results) writeFileSync(values.results, `${JSON.stringify(results, null, 2)}\n`)
  }
  console.log(`\n${table(results, Object.keys(JOBS))}`)
}

try {
  await main()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

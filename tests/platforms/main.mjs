// Runs the addon's builds wherever this machine can: each job in each runtime, with a table of the counts at the end.
//
//   node main.mjs [--runtime NAME] [--job NAME] [--short] [--results FILE]
//
// What is run replaces its own entries in FILE, and the others stay. --short runs a part of some jobs, and counts for no table.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { addonFile } from '../../packages/terrace/scripts/cargo-build.mjs'
import { endJobs, JOBS, SHORT } from './jobs.mjs'
import { RUNTIMES } from './runtimes.mjs'
import { table } from './table.mjs'

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', multiple: true, default: RUNTIMES.map(({ name }) => name) },
    job: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    results: { type: 'string' }
  }
})

function missingFor(runtime) {
  if (!existsSync(addonFile(runtime.build)))
    return `not built: make prebuilds WHAT=addon PLATFORMS=${runtime.build}`
  return runtime.missing()
}

async function main() {
  const jobs = values.job ?? Object.keys(values.short ? SHORT : JOBS)
  for (const [list, known] of [
    [values.runtime, RUNTIMES.map(({ name }) => name)],
    [jobs, Object.keys(JOBS)]
  ]) {
    const unknown = list.filter((name) => !known.includes(name))
    if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}. There are ${known.join(', ')}`)
  }

  // Another part of the tests may make what is missing now, too late for some of the jobs.
  const missing = new Map(RUNTIMES.map((runtime) => [runtime.name, missingFor(runtime)]))
  const isKept = values.results && existsSync(values.results)
  const results = isKept ? JSON.parse(readFileSync(values.results, 'utf8')) : {}
  for (const runtime of RUNTIMES.filter(({ name }) => values.runtime.includes(name))) {
    const entry = { ...results[runtime.name], build: runtime.build, skipped: missing.get(runtime.name) }
    results[runtime.name] = entry
    if (entry.skipped) continue
    for (const name of jobs.filter((each) => (runtime.jobs ?? jobs).includes(each))) {
      console.log(`platforms: ${name} in ${runtime.name}`)
      const begun = performance.now()
      const { failures, ...kept } = await JOBS[name](runtime, ...(values.short ? SHORT[name] : []))
      console.log(
        `platforms: ${JSON.stringify(kept)} in ${((performance.now() - begun) / 1000).toFixed(0)} s`
      )
      for (const failure of failures) console.log(failure)
      entry[name] = kept
      if (kept.failed > 0) process.exitCode = 1
    }
    if (values.results && !values.short)
      writeFileSync(values.results, `${JSON.stringify(results, null, 2)}\n`)
  }
  console.log(`\n${table(results, jobs)}`)
}

try {
  await main()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  endJobs()
}

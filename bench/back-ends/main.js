// Measures all back-ends interleaved, on this machine, by the benchmark in bench/node:
//
//   node bench/back-ends/main.js [--target NAME …] [options of terrace-bench run]
//
// A server that a target needs is started before, and stopped after.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { targets } from './targets.js'

const BENCH = fileURLToPath(new URL('../node/src/main.js', import.meta.url))

const { values, tokens } = parseArgs({
  options: { target: { type: 'string', multiple: true } },
  strict: false,
  tokens: true
})
const unknown = values.target?.find((name) => !targets.some((target) => target.name === name))
if (unknown !== undefined)
  throw new Error(`there is no target '${unknown}': ${targets.map(({ name }) => name).join('; ')}`)
const chosen = targets.filter(({ name }) => values.target?.includes(name) ?? true)
const own = new Set(tokens.filter(({ name }) => name === 'target').flatMap(({ index }) => [index, index + 1]))
const options = process.argv.slice(2).filter((_, index) => !own.has(index))

const environment = { ...process.env }
const running = []
try {
  const usable = []
  for (const target of chosen) {
    const missing = target.server?.missing()
    if (missing !== undefined) console.error(`left out: ${target.name}: ${missing}`)
    else usable.push(target)
  }
  for (const server of new Set(usable.map((target) => target.server))) {
    if (server === undefined) continue
    const started = await server.start()
    running.push(started)
    Object.assign(environment, started.environment)
  }
  const named = usable.map(({ name, from }) => `${name}=${from}`)
  const child = spawn(process.execPath, [BENCH, 'run', 'calls', ...named, ...options], {
    env: environment,
    stdio: 'inherit'
  })
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
} finally {
  for (const { stop } of running) await stop()
}

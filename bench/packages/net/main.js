// What sharing a database over a socket costs, beside many-level and beside the database in the same process:
//
//   node bench/packages/net/main.js [--transport unix|tcp] [--rounds 5] [--operations 200000] [--entries 100000] [--target NAME …] [--results FILE]
//   node bench/packages/net/main.js --idle 1000       the memory of a server with idle clients
//   node bench/packages/net/main.js --soak 10000000   the memory of a server over so many operations; 1 if its heap grows by --max-growth-mb
//
// --results appends each measurement to a file as a line of JSON.
//
// Client and server are separate processes. Each round runs each target once, in an order that rotates. Rates are medians of the rounds,
// ratios medians of the ratios within each round.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { memoryOf, message, messages, start, stop, withDirectory, withServer } from './processes.js'
import { circumstances, growth, median, megabytes, perSecond, table } from './report.js'
import { missing, SOAKED_SESSION_MS, TARGETS } from './targets.js'
import { WORKLOADS } from './workloads.js'

/** How often a soak looks at the memory; less often if there are few operations. */
const SAMPLES = 40
const OPERATIONS_A_SAMPLE = 500

const { values } = parseArgs({
  options: {
    transport: { type: 'string', default: 'unix' },
    rounds: { type: 'string', default: '5' },
    operations: { type: 'string', default: '200000' },
    entries: { type: 'string', default: '100000' },
    target: { type: 'string', multiple: true },
    idle: { type: 'string' },
    soak: { type: 'string' },
    'max-growth-mb': { type: 'string', default: '2' },
    results: { type: 'string' }
  }
})
const { transport } = values
const [rounds, operations, entries] = [values.rounds, values.operations, values.entries].map(Number)
const maxGrowthMb = Number(values['max-growth-mb'])

/** The requested targets that can run. */
function targets() {
  return (values.target ?? Object.keys(TARGETS)).filter((name) => {
    if (!Object.hasOwn(TARGETS, name))
      throw new Error(`no target '${name}': ${Object.keys(TARGETS).join('; ')}`)
    const lacks = missing(name)
    if (lacks.length > 0) console.error(`left out: ${name}, because ${lacks.join(' and ')} is missing`)
    return lacks.length === 0
  })
}

/** Runs all workloads once. Returns what was measured for each. */
async function run(target) {
  const settings = JSON.stringify({ operations, entries, workloads: Object.keys(WORKLOADS) })
  const client = (where) => messages(start('client.js', [target, where, settings]))
  if (TARGETS[target].serve === undefined) return withDirectory((directory) => client(join(directory, 'db')))
  return withServer(target, transport, entries, client)
}

async function compare() {
  const names = targets()
  const results = []
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const target = names[(i + round) % names.length]
      for (const each of await run(target)) results.push({ target, round, ...each })
    }
  }

  const rates = (target, workload) =>
    results
      .filter((each) => each.target === target && each.workload === workload)
      .sort((a, b) => a.round - b.round)
      .map(({ count, seconds }) => count / seconds)
  const [reference] = names
  const cell = (target, workload) => {
    const own = rates(target, workload)
    const text = perSecond(median(own))
    if (target === reference) return text
    const ratio = median(rates(reference, workload).map((rate, round) => rate / own[round]))
    return `${text} (${ratio.toFixed(2)}×)`
  }
  const rows = Object.entries(WORKLOADS).map(([workload, { unit }]) => [
    `${workload}, ${unit}/s`,
    ...names.map((target) => cell(target, workload))
  ])
  const times = `in brackets: how many times as fast ${reference} is`
  console.log(`${transport}, ${perSecond(entries)} entries, medians of ${rounds} rounds, ${times}\n`)
  console.log(table(['', ...names], rows))
  return { transport, rounds, operations, entries, results }
}

async function idle(count) {
  const results = []
  for (const target of targets().filter((name) => TARGETS[name].serve !== undefined)) {
    await withServer(target, transport, 1, async (address, server) => {
      const before = await memoryOf(server)
      const clients = start('idle-clients.js', [target, address, count])
      const { connected } = await message(clients)
      const after = await memoryOf(server)
      await stop(clients)
      results.push({ target, connected, before, after })
    })
  }
  const rows = results.map(({ target, connected, before, after }) => [
    target,
    String(connected),
    megabytes(before.rss),
    megabytes(after.rss),
    megabytes(after.heapUsed),
    ((after.rss - before.rss) / connected / 1024).toFixed(1)
  ])
  console.log(table(['', 'clients', 'MB before', 'MB with them', 'of that heap', 'KB per client'], rows))
  return { transport, results }
}

async function soak(count) {
  const samples = Math.min(SAMPLES, Math.ceil(count / OPERATIONS_A_SAMPLE))
  const results = []
  await withServer('soak', transport, entries, async (address, server) => {
    const client = start('soak-client.js', [address, count, entries, samples])
    try {
      for (let sample = 0; sample < samples; sample++) {
        const { done } = await message(client)
        // Lost sessions are gone then.
        await sleep(2 * SOAKED_SESSION_MS)
        results.push({ done, ...(await memoryOf(server)) })
        client.send('go on')
      }
    } finally {
      await stop(client)
    }
  })
  const rows = results.map(({ done, rss, heapUsed }) => [
    perSecond(done),
    megabytes(rss),
    megabytes(heapUsed)
  ])
  console.log(table(['operations', 'MB', 'of that heap'], rows))
  // In the first quarter code is compiled, and caches fill.
  const settled = results.slice(samples / 4)
  const grownBytes = Object.fromEntries(
    ['heapUsed', 'rss'].map((what) => [what, growth(settled.map((each) => [each.done, each[what]]))])
  )
  const isSteady = grownBytes.heapUsed < maxGrowthMb * 2 ** 20
  console.log(
    `\nheap ${megabytes(grownBytes.heapUsed)} MB more, resident ${megabytes(grownBytes.rss)} MB, by the slope of the last three ` +
      `quarters: ${isSteady ? 'steady' : 'IT GROWS'}`
  )
  if (!isSteady) process.exitCode = 1
  return { transport, entries, grownBytes, isSteady, results }
}

const measured =
  values.idle !== undefined
    ? { mode: 'idle', ...(await idle(Number(values.idle))) }
    : values.soak !== undefined
      ? { mode: 'soak', ...(await soak(Number(values.soak))) }
      : { mode: 'compare', ...(await compare()) }
const where = circumstances()
console.log(`\n${where.cpu}, ${where.cores} cores, Node ${where.node}, at ${where.commit ?? 'no commit'}.`)
if (values.results !== undefined) {
  const { results, ...settings } = measured
  const lines = results.map((each) => `${JSON.stringify({ ...settings, ...each, ...where })}\n`)
  appendFileSync(values.results, lines.join(''))
}

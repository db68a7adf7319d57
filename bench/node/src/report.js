/** Tables in Markdown. */

import {
  distinct,
  groups,
  lineNames,
  median,
  microsByRound,
  referenceOf,
  targetsOf,
  timesAsFast
} from './statistics.js'

/** @typedef {import('./results.js').Result} Result */

/**
 * @param {Result[]} results
 * @param {string} [reference]
 */
export function reportOf(results, reference) {
  return [...groups(results).map((group) => section(group, reference)), about(results)].join('\n\n')
}

/**
 * @param {Result[]} results
 * @param {string | undefined} wanted
 */
function section(results, wanted) {
  const targets = targetsOf(results)
  const reference = referenceOf(targets, wanted)
  const rounds = new Set(results.map(({ round }) => round)).size
  const [{ workload, settings }] = results
  const others = targets.filter((target) => target !== reference)
  /** @param {string[]} columns @param {(target: string, line: string) => string} cell */
  const table = (columns, cell) =>
    markdown(
      ['', ...columns],
      lineNames(results).map((line) => [line, ...columns.map((target) => cell(target, line))])
    )

  return [
    `**${workload}**: µs per operation, ${amount(workload, settings)}, ${rounds === 1 ? '1 round' : `medians of ${rounds} rounds`}`,
    table(targets, (target, line) => micros(results, target, line)),
    ...(others.length === 0
      ? []
      : [
          `**${workload}**: times as fast as ${reference}`,
          table(others, (target, line) => ratio(timesAsFast(results, target, line, reference)?.ratio))
        ]),
    ...callTable(results, targets),
    ...resourceTable(results, targets)
  ].join('\n\n')
}

/**
 * The settings that matter to the workload.
 * @param {string} workload
 * @param {import('./settings.js').Settings} settings
 */
function amount(workload, settings) {
  const { n, valueSize, concurrency, batchSize, sync, keyOrder, keyDistribution, seconds, readPercent } =
    settings
  const facts = [`${n.toLocaleString('en')} entries, values of ${valueSize} bytes`]
  if (workload === 'calls') facts.push(`at most ${seconds} s per row`)
  if (TIMED.includes(workload)) facts.push(`${seconds} s`)
  if (workload === 'mixed') facts.push(`${readPercent} % gets`)
  if (workload === 'cold-read') facts.push(`${readPercent} % reads, windows of ${batchSize}`)
  if (BATCHED.includes(workload) || (workload === 'sustained' && batchSize > 1)) {
    facts.push(`${batchSize} a call`)
  }
  if (CONCURRENT.includes(workload)) facts.push(`concurrency ${concurrency}`)
  if (workload === 'sorted-write' || (CONCURRENT.includes(workload) && !TIMED.includes(workload))) {
    facts.push(
      keyDistribution === 'zipfian' && workload !== 'sorted-write' ? 'zipfian keys' : `${keyOrder} keys`
    )
  }
  if (sync) facts.push('every write synced')
  return facts.join(', ')
}

const BATCHED = ['batch-put', 'get-many', 'sorted-write']
const CONCURRENT = ['put', 'batch-put', 'get', 'get-many', 'mixed', 'sustained', 'cold-read']
/** Workloads that run for some seconds, with keys that are always random. */
const TIMED = ['sustained', 'cold-read', 'plain-loop']

/**
 * @param {Result[]} results
 * @param {string} target
 * @param {string} line
 */
function micros(results, target, line) {
  const times = microsByRound(results, target, line)
  return times.size === 0 ? '–' : digits(median([...times.values()]))
}

/**
 * For `open`: what each line asks of the system, in the first round that counted it.
 * @param {Result[]} results
 * @param {string[]} targets
 */
function callTable(results, targets) {
  if (results[0].calls === undefined) return []
  /** @param {string} target @param {string} line */
  const cell = (target, line) => {
    const counted = results.find((result) => result.target === target && result.calls?.[line])?.calls?.[line]
    return counted === undefined || counted === null ? '–' : `${counted.syncs} / ${counted.total}`
  }
  const rows = lineNames(results).map((line) => [line, ...targets.map((target) => cell(target, line))])
  return ['**open**: syncs / system calls, once', markdown(['', ...targets], rows)]
}

/** @param {Result[]} results @param {string[]} targets */
function resourceTable(results, targets) {
  const rows = resourceRows(results, targets)
  return rows.length === 0 ? [] : [markdown(['', ...targets], rows)]
}

/**
 * @param {Result[]} results
 * @param {string[]} targets
 */
function resourceRows(results, targets) {
  /** @param {string} label @param {(result: Result) => number | undefined} of */
  const row = (label, of) => [
    label,
    ...targets.map((target) => {
      const values = results.filter((result) => result.target === target).map(of)
      const known = values.filter((value) => value !== undefined)
      return known.length === 0 ? '–' : digits(median(known))
    })
  ]
  const memory = [
    ...(results.some(({ memory }) => memory !== undefined)
      ? [
          row('peak memory, MB', ({ memory }) => megabytes(memory?.peakRssBytes)),
          row('heap, MB', ({ memory }) => megabytes(memory?.peakHeapBytes))
        ]
      : []),
    ...(results.some(({ fileBytes }) => fileBytes > 0)
      ? [row('files, MB', ({ fileBytes }) => (fileBytes > 0 ? fileBytes / 1e6 : undefined))]
      : [])
  ]
  const [{ lines, batches, pageCache, many }] = results
  // In a table with many lines each has its own delays; they are in the file.
  const loop =
    lines.length > 1
      ? []
      : LOOP_ROWS.map(([label, name]) => row(label, ({ lines }) => lines[0]?.eventLoop[name]))
  const ofBatches =
    batches === undefined ? [] : BATCH_ROWS.map(([label, name]) => row(label, ({ batches }) => batches[name]))
  const ofPageCache = pageCache === undefined ? [] : PAGE_CACHE_ROWS.map(([label, of]) => row(label, of))
  const ofMany =
    many === undefined ? [] : MANY_ROWS.map(([label, of]) => row(`${many.databases} databases: ${label}`, of))
  return [...ofBatches, ...loop, ...ofPageCache, ...ofMany, ...memory]
}

const LOOP_ROWS = /** @type {const} */ ([
  ['event loop p50, ms', 'p50'],
  ['event loop p99, ms', 'p99'],
  ['event loop max, ms', 'max']
])

const BATCH_ROWS = [
  ['batch p50, ms', 'p50'],
  ['batch p99, ms', 'p99'],
  ['batch p99.9, ms', 'p99.9'],
  ['batch max, ms', 'max']
]

/** @param {'residentAtStartBytes' | 'residentAtEndBytes'} name */
const residentPercent =
  (name) =>
  (/** @type {Result} */ { pageCache }) =>
    pageCache[name] === null || pageCache.fileBytes === 0
      ? undefined
      : (100 * pageCache[name]) / pageCache.fileBytes

const PAGE_CACHE_ROWS = /** @type {[string, (result: Result) => number | undefined][]} */ ([
  ['files at the start, MB', ({ pageCache }) => pageCache.fileBytes / 1e6],
  ['of them in memory at the start, %', residentPercent('residentAtStartBytes')],
  ['of them in memory at the end, %', residentPercent('residentAtEndBytes')]
])

const MANY_ROWS = /** @type {[string, (result: Result) => number | undefined][]} */ ([
  ['µs to create one', ({ many }) => many?.microsPerOpen],
  ['memory added, MB', ({ many }) => megabytes(many?.growth?.memoryBytes)],
  ['threads added', ({ many }) => many?.growth?.threads],
  ['descriptors added', ({ many }) => many?.growth?.descriptors]
])

/** @param {number | undefined} bytes */
function megabytes(bytes) {
  return bytes === undefined ? undefined : bytes / 1e6
}

/** Versions and machines. @param {Result[]} results */
function about(results) {
  const packages = distinct(results.map(packageLine))
  const machines = distinct(results.map(machineLine))
  return [...packages, ...machines].map((line) => `- ${line}`).join('\n')
}

/** @param {Result} result */
function packageLine({ target, package: { name, version }, databaseOptions }) {
  const options = Object.entries(databaseOptions).map(
    ([option, value]) => `${option} ${JSON.stringify(value)}`
  )
  const settings = options.length > 0 ? `: ${options.join(', ')}` : ''
  return `${target === name ? '' : `${target}, `}${name} ${version}${settings}`
}

/** @param {Result} result */
function machineLine({ machine: { cpu, cores, memoryBytes, os, kernel, fileSystem, node }, commit }) {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`
  const at = commit === null ? '' : `, commit ${commit}`
  return `${cpu}, ${cores} cores, ${memory}, ${os}, ${kernel}, ${fileSystem}, Node ${node}${at}`
}

/** @param {number | undefined} times */
function ratio(times) {
  if (times === undefined) return '–'
  return times >= 0.1 ? times.toFixed(2) : times.toPrecision(1)
}

/** @param {number} number */
function digits(number) {
  if (number >= 100) return Math.round(number).toLocaleString('en')
  return number >= 10 ? number.toFixed(1) : number.toFixed(2)
}

/**
 * @param {string[]} head
 * @param {string[][]} rows
 */
function markdown(head, rows) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)))
  /** @param {string[]} cells */
  const line = (cells) =>
    `| ${cells.map((text, column) => (column === 0 ? text.padEnd(widths[0]) : text.padStart(widths[column]))).join(' | ')} |`
  const rule = widths.map((width, column) => '-'.repeat(width + 1) + (column === 0 ? '-' : ':'))
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n')
}

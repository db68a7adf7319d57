// Measures which option moves what, and writes the tables of docs/tuning.md:
//
//   node bench/tuning/main.mjs [--rounds 3] [--only cacheSize] [--report]
//
// Each round runs every case of cases.mjs, whose variants take turns: a slow minute of the machine is slow for all.
// The results go into bench/results/tuning.jsonl, the tables into bench/results/tuning.md. --report only makes the tables again.

import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { median } from '../node/src/statistics.js'
import { CASES } from './cases.mjs'

const BENCH = 'bench/node/src/main.js'
const RESULTS = 'bench/results/tuning.jsonl'
const TABLES = 'bench/results/tuning.md'
const DIRECTORY = 'target/tuning'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string' }, report: { type: 'boolean' } }
})

const lines = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
const isChosen = ({ name }) => values.only === undefined || values.only === name

/** Cases that are not run keep their results. */
function measure() {
  const kept = lines(RESULTS).filter((line) => !isChosen({ name: JSON.parse(line).case }))
  writeFileSync(RESULTS, kept.map((line) => `${line}\n`).join(''))
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const each of CASES.filter(isChosen)) measureRound(each, round)
  }
}

function measureRound({ name, runs, variants }, round) {
  for (const run of runs) {
    for (const variant of rotated(variants, round)) {
      console.log(`round ${round + 1}: ${name}, ${run.name}, ${variant.name}`)
      const about = { case: name, run: run.name, variant: variant.name }
      for (const result of benchmark(run, variant)) {
        appendFileSync(RESULTS, `${JSON.stringify({ ...about, ...result, round })}\n`)
      }
    }
  }
}

/** The arguments of terrace-bench. */
function argumentsOf(run, { args = [], db = {}, workload = run.workload, read }) {
  const options = Object.keys(db).length > 0 ? ['--db', JSON.stringify(db)] : []
  const reading = read === undefined ? [] : ['--read-options', JSON.stringify(read)]
  return ['run', workload, 'terrace', ...run.args, ...args, ...options, ...reading]
}

function benchmark(run, variant) {
  mkdirSync(DIRECTORY, { recursive: true })
  const file = `${DIRECTORY}/run.jsonl`
  rmSync(file, { force: true })
  const args = [...argumentsOf(run, variant), '--rounds', '1', '--dir', DIRECTORY, '--results', file]
  execFileSync(process.execPath, [BENCH, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  return lines(file).map((line) => JSON.parse(line))
}

function rotated(items, by) {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

function digits(number) {
  if (number >= 100) return Math.round(number).toLocaleString('en')
  return number >= 10 ? number.toFixed(1) : number.toFixed(2)
}

/** The best variant is bold if it is better than the worst by a twentieth. */
function column(results, variants, { run, of, isMedian }) {
  const numbers = variants.map(({ name }) => {
    const found = results.filter((result) => result.variant === name && result.run === run).map(of)
    return found.length > 0 && found.every(Number.isFinite)
      ? isMedian
        ? median(found)
        : Math.min(...found)
      : Number.NaN
  })
  const known = numbers.filter(Number.isFinite)
  const [best, worst] = [Math.min(...known), Math.max(...known)]
  return numbers.map((number) => {
    if (!Number.isFinite(number)) return '–'
    return number === best && worst > best * 1.05 ? `**${digits(number)}**` : digits(number)
  })
}

function section({ name, label, variants, runs, columns }, all) {
  const results = all.filter((result) => result.case === name)
  if (results.length === 0) return ''
  const cells = columns.map((each) => column(results, variants, each))
  const rows = variants.map((variant, i) => [variant.name, ...cells.map((column) => column[i])])
  const line = (cells) => `| ${cells.join(' | ')} |`
  const quoted = (arg) => (/[^\w.-]/.test(arg) ? `'${arg}'` : arg)
  const commands = runs.map((run) => {
    const changed = variants.find(({ args, db, read, workload }) => args ?? db ?? read ?? workload)
    return `terrace-bench ${argumentsOf(run, changed).map(quoted).join(' ')}`
  })
  const rounds = new Set(results.map(({ round }) => round)).size
  return [
    `<!-- ${name} -->`,
    '',
    line([label, ...columns.map(({ title }) => title)]),
    `|---|${columns.map(() => '---:|').join('')}`,
    ...rows.map(line),
    '',
    `${rounds === 1 ? 'One round' : `${rounds} rounds: of times the best, of the longest ones and of memory the median`}. To measure one of the rows:`,
    '',
    '```sh',
    ...commands,
    '```',
    '',
    `<!-- /${name} -->`
  ].join('\n')
}

/** Describes the machine that the figures come from. */
function machineSection([result]) {
  const { cpu, cores, memoryBytes, os, fileSystem, node } = result.machine
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`
  const text = `Measured on: ${cpu}, ${cores} cores, ${memory}, ${os}, ${fileSystem}, Node ${node}, commit ${result.commit}.`
  return `<!-- machine -->\n\n${text}\n\n<!-- /machine -->`
}

if (!values.report) measure()
const all = lines(RESULTS).map((line) => JSON.parse(line))
const sections = [machineSection(all), ...CASES.map((each) => section(each, all))]
writeFileSync(TABLES, `${sections.filter((text) => text !== '').join('\n\n')}\n`)
console.log(`the tables are in ${TABLES}`)

// What hook functions, sublevels and listeners cost per put, beside classic-level and memory-level:
//
//   node bench/packages/terrace/hooks.js [--rounds 7] [--puts 100000] [--json FILE]
//
// Prints a table. Each round measures each case on each database once, in an order that rotates, each in a separate
// process; times are medians of the rounds, costs medians of the differences within each round.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { median } from '../../node/src/statistics.js'
import { CASES, DATABASES } from './hooks-cases.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    puts: { type: 'string', default: '100000' },
    json: { type: 'string' }
  }
})

const databases = Object.keys(DATABASES)
const cases = Object.keys(CASES)
const rounds = []

for (let round = 0; round < Number(values.rounds); round++) {
  const results = {}

  for (const name of cases) {
    results[name] = {}
    for (let i = 0; i < databases.length; i++) {
      const database = databases[(i + round) % databases.length]
      results[name][database] = measure(database, name)
    }
  }

  rounds.push(results)
  process.stderr.write(`round ${round + 1} of ${values.rounds}\n`)
}

if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rounds, null, 2)}\n`)
console.log(table())

function measure(database, name) {
  const child = fileURLToPath(new URL('hooks-child.js', import.meta.url))
  return Number(execFileSync(process.execPath, [child, database, name, values.puts], { encoding: 'utf8' }))
}

/** The time of a case, and its difference from an operation with nothing on its way. */
function cell(name, database) {
  const micros = median(rounds.map((results) => results[name][database]))
  const plain = CASES[name].isGet ? 'get' : 'put'
  if (name === plain) return micros.toFixed(2)

  const more = median(rounds.map((results) => results[name][database] - results[plain][database]))
  return `${micros.toFixed(2)} (${more < 0 ? '−' : '+'}${Math.abs(more).toFixed(2)})`
}

function table() {
  const rows = [
    ['', ...databases],
    ...cases.map((name) => [name, ...databases.map((each) => cell(name, each))])
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const line = (row) => {
    const cells = row.map((text, column) =>
      column === 0 ? text.padEnd(widths[column]) : text.padStart(widths[column])
    )
    return `| ${cells.join(' | ')} |`
  }
  const rule = widths.map((width, column) => '-'.repeat(width + 1) + (column === 0 ? '-' : ':'))

  return [
    `µs per operation, medians of ${values.rounds} rounds (in brackets: added to the call without hooks)`,
    '',
    line(rows[0]),
    `|${rule.join('|')}|`,
    ...rows.slice(1).map(line),
    '',
    `${values.puts} awaited puts of 16 + 100 bytes, or gets of them. ${cpus()[0].model.trim()}, Node ${process.version}, at ${revision()}.`
  ].join('\n')
}

function revision() {
  return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim()
}

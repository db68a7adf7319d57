// What encoding and decoding a key costs, beside other encodings:
//
//   node bench/packages/bytewise/main.js [--rounds 5] [--milliseconds 150]
//
// Prints a table. Each round measures each encoding once, in an order that rotates, each in a separate process; times
// are medians of the rounds, ratios medians of the ratios within each round.

import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { median } from '../../node/src/statistics.js'
import { ENCODINGS, SHAPES } from './cases.js'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, milliseconds: { type: 'string', default: '150' } }
})
const rounds = Number(values.rounds)
const names = Object.keys(ENCODINGS)
const child = fileURLToPath(new URL('child.js', import.meta.url))

function commit() {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
      encoding: 'utf8'
    }).trim()
  } catch {
    return 'no commit'
  }
}

/** The results of each encoding, for each round. */
const measured = []
for (let round = 0; round < rounds; round++) {
  const results = {}
  for (let i = 0; i < names.length; i++) {
    const name = names[(i + round) % names.length]
    const output = execFileSync(process.execPath, ['--expose-gc', child, name, values.milliseconds], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit']
    })
    results[name] = JSON.parse(output)
  }
  measured.push(results)
}

function cell(name, shape, operation) {
  if (measured[0][name][shape] === null) return '–'
  const times = measured.map((results) => results[name][shape][operation])
  const time = median(times).toFixed(3)
  if (name === names[0]) return time
  const ratios = measured.map((results, i) => times[i] / results[names[0]][shape][operation])
  return `${time} (${median(ratios).toFixed(1)}×)`
}

const rows = Object.keys(SHAPES).flatMap((shape) => [
  [`encode ${shape}`, ...names.map((name) => cell(name, shape, 'encode'))],
  [`decode ${shape}`, ...names.map((name) => cell(name, shape, 'decode'))]
])
const head = ['', ...names]
const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)))
const line = (cells) =>
  `| ${cells.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join(' | ')} |`

console.log(
  `µs per key, medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'} (times as long as ${names[0]} takes)\n`
)
console.log(line(head))
console.log(
  `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
)
for (const row of rows) console.log(line(row))
console.log(
  `\n${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, at ${commit()}. – marks kinds of keys that do not decode to the same value.`
)

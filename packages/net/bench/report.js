// Tables in Markdown, and what is noted about a run.

import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** A table; all columns but the first are aligned to the right. */
export function table(head, rows) {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)))
  const line = (cells) =>
    `| ${cells.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`))
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n')
}

export const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)}`

export const perSecond = (rate) => Math.round(rate).toLocaleString('en')

/** What it ran on. */
export function circumstances() {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cpu: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    node: process.version
  }
}

function commit() {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
      encoding: 'utf8'
    }).trim()
  } catch {
    return null
  }
}

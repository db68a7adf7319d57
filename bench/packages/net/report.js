// Tables in Markdown, and what is noted about a run.

import { commit, machine } from '../../../scripts/machine.mjs'

export { median } from '../../node/src/statistics.js'

/** How much the straight line that fits points of [x, y] best rises from the first to the last. */
export function growth(points) {
  const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length
  const [x, y] = [0, 1].map((i) => mean(points.map((point) => point[i])))
  const rise = mean(points.map((point) => (point[0] - x) * (point[1] - y)))
  const run = mean(points.map((point) => (point[0] - x) ** 2))
  return run === 0 ? 0 : (rise / run) * (points.at(-1)[0] - points[0][0])
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
  return { date: new Date().toISOString(), commit: commit(), ...machine('.') }
}

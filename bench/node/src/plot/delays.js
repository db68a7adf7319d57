/** How often the event loop was delayed, and by how much, in one histogram for each target. */

import { targetsOf } from '../statistics.js'
import { coloursOf, title } from './style.js'

/** @param {import('../results.js').Result[]} results of one group */
export function delays(results) {
  const targets = targetsOf(results)
  // The first round of each: one histogram of several rounds would hide which was the worst.
  const shown = targets.map(
    (target) => /** @type {any} */ (results.find((result) => result.target === target))
  )
  const labels = shown.map(labelOf)
  const values = shown.flatMap(({ eventLoopBuckets }, index) =>
    eventLoopBuckets
      .filter((/** @type {any} */ { count }) => count > 0)
      .map((/** @type {any} */ bucket) => ({ ...bucket, label: labels[index] }))
  )

  return {
    title: title(
      results,
      'delays of the event loop',
      'the time between ticks of a timer that wants one every ms'
    ),
    data: { values },
    facet: {
      row: {
        field: 'label',
        type: 'nominal',
        sort: labels,
        title: null,
        header: { labelOrient: 'top', labelAnchor: 'start', labelFontSize: 12, labelLimit: 700 }
      }
    },
    spec: {
      width: 700,
      height: 110,
      mark: { type: 'rect', stroke: 'white', strokeWidth: 0.5 },
      encoding: {
        x: {
          field: 'from',
          type: 'quantitative',
          title: 'delay, ms, logarithmic',
          scale: { type: 'log', nice: false }
        },
        x2: { field: 'to' },
        y: {
          field: 'count',
          type: 'quantitative',
          title: 'ticks',
          scale: { type: 'symlog' },
          axis: { values: [0, 1, 10, 100, 1000, 10_000, 100_000], format: ',d' }
        },
        y2: { datum: 0 },
        color: {
          field: 'label',
          type: 'nominal',
          scale: { domain: labels, range: coloursOf(targets) },
          legend: null
        }
      }
    }
  }
}

/** @type {Record<string, string>} what clients do in workloads that do not divide it by --read-percent */
const WHAT = { sustained: 'writes', 'plain-loop': 'operations' }

/** @param {import('../results.js').Result} result */
function labelOf({ target, workload, settings: { readPercent }, lines: [{ ops, seconds, eventLoop }] }) {
  const { p50, p99, max } = eventLoop
  const rate = Math.round(ops / seconds).toLocaleString('en')
  const what = WHAT[workload] ?? (readPercent === 100 ? 'reads' : 'reads and writes')
  return `${target}: ${rate} ${what} a second; delays: median ${p50} ms, p99 ${p99} ms, longest ${max} ms`
}

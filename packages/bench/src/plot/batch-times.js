/** The time of each batch over the time of the whole run. */

import { targetsOf } from '../statistics.js'
import { legend, title } from './style.js'

const POINT_AREA = 7

/** @param {import('../results.js').Result[]} results of one group */
export function batchTimes(results) {
  const shown = targetsOf(results).map((target) => middleRound(results, target))
  const labels = shown.map(labelOf)
  const each = Math.max(...shown.map(({ batches }) => batches.series.batchesEach))
  const values = shown.flatMap(({ batches: { series } }, index) =>
    series.seconds.flatMap((/** @type {number} */ seconds, /** @type {number} */ point) => [
      { label: labels[index], seconds, millis: series.max[point], kind: 'longest' },
      { label: labels[index], seconds, millis: series.mean[point], kind: 'mean' }
    ])
  )
  const { batchSize } = shown[0].settings
  const points = each > 1 ? `dark: mean of ${each} batches; light: the longest of them` : 'a point is a batch'

  return {
    title: title(results, `time of each batch of ${batchSize} entries`, points),
    width: 760,
    height: 420,
    data: { values },
    mark: { type: 'point', filled: true, size: POINT_AREA },
    encoding: {
      x: { field: 'seconds', type: 'quantitative', title: 'time since the beginning, s' },
      y: {
        field: 'millis',
        type: 'quantitative',
        title: 'time of a batch, ms, logarithmic',
        scale: { type: 'log', nice: true }
      },
      color: { field: 'label', type: 'nominal', sort: labels, legend: { ...legend(labels), columns: 1 } },
      opacity: {
        field: 'kind',
        type: 'nominal',
        scale: { domain: ['longest', 'mean'], range: [0.25, 0.9] },
        legend: null
      }
    }
  }
}

/**
 * Of several rounds the one whose whole time is the median.
 * @param {import('../results.js').Result[]} results
 * @param {string} target
 */
function middleRound(results, target) {
  const rounds = results
    .filter((result) => result.target === target)
    .sort((a, b) => a.lines[0].seconds - b.lines[0].seconds)
  return rounds[rounds.length >> 1]
}

/** @param {import('../results.js').Result} result */
function labelOf({ target, lines: [{ seconds }], batches }) {
  const { p50, 'p99.9': p999, max } = batches
  const [half, most, longest] = [p50, p999, max].map((millis) =>
    millis.toPrecision(2 + (millis >= 100 ? 1 : 0))
  )
  return `${target}: ${seconds.toFixed(1)} s in all; a batch: median ${half} ms, p99.9 ${most} ms, longest ${longest} ms`
}

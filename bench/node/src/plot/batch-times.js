/** The time of each batch over the time of the whole run. */

import { targetsOf } from '../statistics.js'
import { coloursOf, legend, title } from './style.js'

const POINT_AREA = 7
/** The most points for a target: each is an element of the SVG. */
const MAX_POINTS = 1000

/** @param {import('../results.js').Result[]} results of one group */
export function batchTimes(results) {
  const targets = targetsOf(results)
  const shown = targets.map((target) => middleRound(results, target))
  const labels = shown.map(labelOf)
  const thinned = shown.map(({ batches }) => thin(batches.series))
  const each = Math.max(...thinned.map(({ batchesEach }) => batchesEach))
  const values = thinned.flatMap(({ batchesEach, points }, index) =>
    points.flatMap(({ seconds, mean, max }) => [
      ...(batchesEach > 1 ? [{ label: labels[index], seconds, millis: max, kind: 'longest' }] : []),
      { label: labels[index], seconds, millis: mean, kind: 'mean' }
    ])
  )
  const { batchSize } = shown[0].settings
  const points =
    each > 1 ? `strong: mean of ${each} batches; faint: the longest of them` : 'a point is a batch'

  return {
    title: title(results, `time of each batch of ${batchSize} entries`, points),
    width: 760,
    height: 420,
    data: { values },
    // Without a text for each point, which would be most of the SVG.
    mark: { type: 'point', filled: true, size: POINT_AREA, aria: false },
    encoding: {
      x: {
        field: 'seconds',
        type: 'quantitative',
        title: 'time since the beginning, s',
        axis: { tickCount: 12 }
      },
      y: {
        field: 'millis',
        type: 'quantitative',
        title: 'time of a batch, ms, logarithmic',
        scale: { type: 'log', nice: true }
      },
      color: {
        field: 'label',
        type: 'nominal',
        scale: { domain: labels, range: coloursOf(targets) },
        legend: { ...legend(labels), columns: 1 }
      },
      opacity: {
        field: 'kind',
        type: 'ordinal',
        scale: { domain: ['longest', 'mean'], range: [0.25, 0.9] },
        legend: null
      }
    }
  }
}

/**
 * @param {{ batchesEach: number, seconds: number[], mean: number[], max: number[] }} series
 */
function thin({ batchesEach, seconds, mean, max }) {
  const each = Math.ceil(seconds.length / MAX_POINTS)
  const points = []
  for (let from = 0; from < seconds.length; from += each) {
    const to = Math.min(seconds.length, from + each)
    const sum = mean.slice(from, to).reduce((a, b) => a + b)
    points.push({ seconds: seconds[to - 1], mean: sum / (to - from), max: Math.max(...max.slice(from, to)) })
  }
  return { batchesEach: batchesEach * each, points }
}

/**
 * The round whose total time is the median of several.
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

/**
 * A row for each line and a dot for each target: how many times as fast as the reference it is, with a line from the slowest
 * round to the fastest. A target alone has its times.
 */

import {
  distinct,
  lineNames,
  median,
  microsByRound,
  referenceOf,
  targetsOf,
  timesAsFast
} from '../statistics.js'
import { coloursOf, INK, legend, title } from './style.js'

const ROW_PIXELS = 20
/** The first target's dots are larger: the picture is about it. */
const [AREA, FIRST_AREA] = [70, 130]
/**
 * Ratios beyond it and its inverse are drawn at the edge with their number, so that one of them does not crowd all others. If a row
 * has several, whose numbers would cover each other, all are drawn where they are.
 */
const MOST = 128
/** How many powers of two there is room to label on the axis. Among more, every fourth has a label. */
const LABELS = 17

/** @param {import('../results.js').Result[]} results of one group */
export function dots(results) {
  return targetsOf(results).length > 1 ? ratios(results) : times(results)
}

/** @param {import('../results.js').Result[]} results */
function ratios(results) {
  const reference = referenceOf(targetsOf(results))
  const values = lineNames(results).flatMap((line) =>
    targetsOf(results).flatMap((target) => {
      const ratios = timesAsFast(results, target, line, reference)
      return ratios === undefined ? [] : [{ line, target, ...ratios }]
    })
  )
  return ratioDots(title(results, `times as fast as ${reference}`), values)
}

/**
 * @param {object} heading of the picture
 * @param {{ line: string, target: string, ratio: number, least?: number, most?: number }[]} values in the order of rows and
 *   of targets; without `least` and `most`, dots alone
 */
export function ratioDots(heading, values) {
  const most = isCrowded(values) ? Number.POSITIVE_INFINITY : MOST
  /** @param {number} ratio */
  const clip = (ratio) => Math.min(most, Math.max(1 / most, ratio))
  const clipped = values.map((value) => ({
    ...value,
    shown: clip(value.ratio),
    slowest: clip(value.least ?? value.ratio),
    fastest: clip(value.most ?? value.ratio)
  }))
  const shown = clipped.map((value) => value.shown)
  // With room at the ends for the dots themselves.
  const domain = [
    2 ** Math.floor(Math.log2(Math.min(0.5, ...shown) / 1.1)),
    2 ** Math.ceil(Math.log2(Math.max(2, ...shown) * 1.1))
  ]
  const x = {
    field: 'shown',
    type: 'quantitative',
    title: 'logarithmic: further right is faster',
    scale: { type: 'log', base: 2, domain, nice: false },
    axis: {
      labelFlush: false,
      values: powersOfTwo(domain),
      labelExpr: "datum.value < 1 ? '1/' + format(1 / datum.value, 'd') : format(datum.value, 'd') + '×'"
    }
  }
  return picture(heading, clipped, x, [
    {
      data: { values: [{ shown: 1 }] },
      mark: { type: 'rule', size: 2 },
      encoding: { y: { value: 0 }, y2: { value: 'height' }, color: { value: INK } }
    },
    {
      mark: { type: 'rule', size: 2 },
      encoding: { x: { ...x, field: 'slowest' }, x2: { field: 'fastest' } }
    },
    ...dotLayers(clipped[0].target),
    {
      transform: [{ filter: 'datum.ratio !== datum.shown' }],
      mark: { type: 'text', align: 'left', dx: 8 },
      encoding: { text: { field: 'ratio', format: '.2~r' }, color: { value: INK } }
    }
  ])
}

/** @param {import('../results.js').Result[]} results of one target */
function times(results) {
  const [target] = targetsOf(results)
  const values = lineNames(results).map((line) => ({
    line,
    target,
    micros: median([...microsByRound(results, target, line).values()])
  }))
  const x = {
    field: 'micros',
    type: 'quantitative',
    title: 'µs per operation, logarithmic: further left is faster',
    scale: { type: 'log' }
  }
  return picture(title(results, 'µs per operation'), values, x, dotLayers(target))
}

/** Whether a row has several ratios beyond the same edge. @param {{ line: string, ratio: number }[]} values */
function isCrowded(values) {
  const beyond = values
    .filter(({ ratio }) => ratio > MOST || ratio < 1 / MOST)
    .map(({ line, ratio }) => `${line} ${ratio > 1}`)
  return distinct(beyond).length < beyond.length
}

/** The powers of two to label. @param {number[]} domain */
function powersOfTwo([least, most]) {
  const [first, last] = [Math.log2(least), Math.log2(most)]
  const step = last - first < LABELS ? 1 : 4
  const start = Math.ceil(first / step) * step
  return Array.from(
    { length: Math.floor((last - start) / step) + 1 },
    (_, index) => 2 ** (start + index * step)
  )
}

/** The dots of the first target, and over them, so that none is hidden, those of the others. @param {string} first */
function dotLayers(first) {
  /** @param {string} operator @param {number} size */
  const layer = (operator, size) => ({
    transform: [{ filter: `datum.target ${operator} ${JSON.stringify(first)}` }],
    mark: { type: 'point', filled: true, opacity: 1, size, stroke: 'white', strokeWidth: 1 }
  })
  return [layer('===', FIRST_AREA), layer('!==', AREA)]
}

/**
 * @param {object} heading
 * @param {{ line: string, target: string }[]} values
 * @param {object} x
 * @param {object[]} layer
 */
function picture(heading, values, x, layer) {
  const targets = distinct(values.map(({ target }) => target))
  return {
    title: heading,
    width: 540,
    height: { step: ROW_PIXELS },
    data: { values },
    encoding: {
      x,
      y: {
        field: 'line',
        type: 'nominal',
        sort: distinct(values.map(({ line }) => line)),
        title: null,
        axis: { labelLimit: 320, labelPadding: 12, ticks: false, domain: false, grid: true }
      },
      color: {
        field: 'target',
        type: 'nominal',
        scale: { domain: targets, range: coloursOf(targets) },
        legend: legend(targets)
      }
    },
    layer
  }
}

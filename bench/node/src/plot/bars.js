/** Bars of times, grouped by line, with one bar for each target. */

import { lineNames, median, microsByRound, targetsOf } from '../statistics.js'
import { coloursOf, legend, title } from './style.js'

const BAR_PIXELS = 9

/** @param {import('../results.js').Result[]} results of one group */
export function bars(results) {
  const targets = targetsOf(results)
  const lines = lineNames(results)
  const values = lines.flatMap((line) =>
    targets.flatMap((target) => {
      const times = microsByRound(results, target, line)
      return times.size === 0 ? [] : [{ line, target, micros: median([...times.values()]) }]
    })
  )
  const least = 10 ** Math.floor(Math.log10(Math.min(...values.map(({ micros }) => micros)) / 1.5))

  return {
    title: title(results, 'µs an operation'),
    width: 640,
    height: { step: BAR_PIXELS, for: 'offset' },
    data: { values },
    encoding: {
      y: {
        field: 'line',
        type: 'nominal',
        sort: lines,
        title: null,
        axis: { labelLimit: 320, ticks: false },
        scale: { paddingInner: 0.15, paddingOuter: 0.1 }
      },
      yOffset: { field: 'target', type: 'nominal', sort: targets },
      x: {
        field: 'micros',
        type: 'quantitative',
        title: 'µs an operation, logarithmic; shorter is faster',
        scale: { type: 'log', domainMin: least }
      }
    },
    layer: [
      {
        mark: { type: 'bar' },
        encoding: {
          x2: { datum: least },
          color: {
            field: 'target',
            type: 'nominal',
            scale: { domain: targets, range: coloursOf(targets) },
            legend: legend(targets)
          }
        }
      },
      {
        mark: { type: 'text', align: 'left', dx: 3, fontSize: 8, color: '#333' },
        encoding: { text: { field: 'micros', type: 'quantitative', format: '.3~r' } }
      }
    ]
  }
}

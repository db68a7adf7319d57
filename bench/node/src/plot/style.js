/** The common style of all pictures. */

import { distinct } from '../statistics.js'
import { KNOWN } from '../targets/known.js'

export const FONT = 'Roboto'

/** Colours that most people with colour blindness can tell apart (Okabe and Ito). */
const COLOURS = ['#0072B2', '#56B4E9', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#444444', '#B8A800']

/**
 * A colour for each target. Targets with short names have the same colour in every picture.
 * @param {string[]} targets
 */
export function coloursOf(targets) {
  const known = Object.keys(KNOWN)
  const others = targets.filter((target) => !known.includes(target))
  return targets.map((target) => {
    const index = known.includes(target) ? known.indexOf(target) : known.length + others.indexOf(target)
    return COLOURS[index % COLOURS.length]
  })
}

export const CONFIG = {
  background: 'white',
  // Viewers of the SVG may lack the font.
  font: `${FONT}, sans-serif`,
  padding: 12,
  axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', gridColor: '#e6e6e6' },
  title: { anchor: 'start', fontSize: 16, subtitleFontSize: 12, subtitleColor: '#555', offset: 14 },
  view: { stroke: '#ccc' }
}

/**
 * The legend is above the picture, where it covers nothing.
 * @param {string[]} names
 */
export function legend(names) {
  return {
    orient: 'top',
    title: null,
    labelFontSize: 12,
    labelLimit: 0,
    symbolOpacity: 1,
    symbolSize: 90,
    values: names
  }
}

/**
 * @param {import('../results.js').Result[]} results
 * @param {string} what is shown
 * @param {string[]} notes
 */
export function title(results, what, ...notes) {
  const [{ workload, settings, machine }] = results
  const { n, valueSize, concurrency, batchSize, keyOrder, sync, seconds, readPercent } = settings
  const rounds = new Set(results.map(({ round }) => round)).size
  const name = workload === 'sorted-write' && keyOrder === 'random' ? 'random-write' : workload
  const facts = [
    ...(workload === 'sustained' ? [] : [`${n.toLocaleString('en')} entries`]),
    ...(['sustained', 'cold-read', 'plain-loop'].includes(workload)
      ? [`${seconds} s at concurrency ${concurrency}`]
      : []),
    ...(workload === 'sustained' && batchSize > 1 ? [`batches of ${batchSize.toLocaleString('en')}`] : []),
    ...(workload === 'cold-read' ? [`${readPercent} % reads`] : []),
    `values of ${valueSize} bytes`,
    ...(sync ? ['every write synced'] : []),
    ...(rounds > 1 ? [`medians of ${rounds} rounds`] : [])
  ]
  const machines = distinct(
    results.map(({ machine: { cpu, cores, node } }) => `${cpu}, ${cores} cores, Node ${node}`)
  )
  return {
    text: `${name}: ${what}`,
    subtitle: [facts.join(', '), ...notes, `${machines.join('; ')}, ${machine.os}`]
  }
}

/** The common style of all pictures. */

import { distinct } from '../statistics.js'
import { KNOWN } from '../targets/known.js'

export const FONT = 'Roboto'

/** Of what is read. */
export const INK = '#1f2328'
/** Colours that most people with colour blindness can tell apart (Okabe and Ito), and three more. */
const COLOURS = [
  '#0072B2',
  '#56B4E9',
  '#E69F00',
  '#009E73',
  '#CC79A7',
  '#D55E00',
  '#444444',
  '#B8A800',
  '#7A3FBF'
]
const GROUND = 'white'
const [NOTE, GRID] = ['#59636e', '#d8dee4']

/** For each colour of a picture the one for readers who prefer a dark scheme. */
const DARK = {
  [GROUND]: '#0d1117',
  [INK]: '#e6edf3',
  [NOTE]: '#9198a1',
  [GRID]: '#30363d',
  '#0072B2': '#4aa8ff',
  '#56B4E9': '#9fdcff',
  '#E69F00': '#ffc233',
  '#009E73': '#2fcf9f',
  '#CC79A7': '#e79bc6',
  '#D55E00': '#ff8c42',
  '#444444': '#b1bac4',
  '#B8A800': '#dccb2a',
  '#7A3FBF': '#b78cf2'
}

/** The same picture with a style that replaces its colours in a dark scheme. @param {string} svg */
export function withDarkScheme(svg) {
  const rules = Object.entries(DARK).map(
    ([light, dark]) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`
  )
  return svg.replace(/<svg[^>]*>/, `$&<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`)
}

/**
 * A colour for each target: the same in every picture for those with short names, and for the others what these leave.
 * @param {string[]} targets
 */
export function coloursOf(targets) {
  const known = Object.keys(KNOWN).slice(0, COLOURS.length)
  const left = COLOURS.filter((_, index) => !targets.includes(known[index]))
  const others = targets.filter((target) => !known.includes(target))
  return targets.map((target) =>
    known.includes(target) ? COLOURS[known.indexOf(target)] : left[others.indexOf(target) % left.length]
  )
}

export const CONFIG = {
  background: GROUND,
  // Viewers of the SVG may lack the font.
  font: `${FONT}, sans-serif`,
  padding: 12,
  axis: {
    labelFontSize: 12,
    labelColor: INK,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    titleColor: INK,
    gridColor: GRID,
    tickColor: GRID,
    domainColor: GRID
  },
  header: { labelColor: INK },
  legend: { labelColor: INK },
  title: { anchor: 'start', fontSize: 16, color: INK, subtitleFontSize: 12, subtitleColor: NOTE, offset: 14 },
  view: { stroke: GRID }
}

/** How many letters a row of the legend has room for, and how many of them a symbol with its margins takes. */
const [ROW_LETTERS, SYMBOL_LETTERS] = [105, 6]

/**
 * The legend is above the picture, where it covers nothing, in rows that are about as wide as a picture.
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
    columns: Math.max(
      1,
      Math.floor(ROW_LETTERS / Math.max(...names.map(({ length }) => length + SYMBOL_LETTERS)))
    ),
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

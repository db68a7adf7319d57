// Prints the picture of the engine's modules that stands in ARCHITECTURE.md: a flowchart of Mermaid, and the arrows against its order.

import { pathToFileURL } from 'node:url'
import { circlesOf } from './circles.mjs'
import { graphsOfCrates } from './crates.mjs'

/** What any module may use, and what uses no module but these: not drawn. */
export const COMMON = ['error', 'iterator', 'key_prefix', 'read_tier', 'sync', 'thread_buffer']

/** The top-level modules of a crate, each with those that it uses and how many arrows of files say so. */
export function topLevel(files) {
  const moduleOf = (file) => file.split('/')[0].replace(/\.rs$/, '')
  const graph = new Map()
  for (const [file, targets] of files) {
    const from = moduleOf(file)
    if (from === 'lib' || COMMON.includes(from)) continue
    if (!graph.has(from)) graph.set(from, new Map())
    for (const to of targets.map(moduleOf)) {
      if (to === from || COMMON.includes(to)) continue
      graph.get(from).set(to, (graph.get(from).get(to) ?? 0) + 1)
    }
  }
  return graph
}

/**
 * The order of a circle's modules in which the fewest arrows of files point upward, found exactly: for each set of modules, the best
 * order with these on top is made from the best orders of the sets with one less.
 */
function bestOrder(graph, circle) {
  const upward = (module, above) => above.reduce((sum, other) => sum + (graph.get(module).get(other) ?? 0), 0)
  const best = [{ cost: 0, order: [] }]
  for (let set = 1; set < 1 << circle.length; set += 1) {
    for (const [bit, last] of circle.entries()) {
      if ((set & (1 << bit)) === 0) continue
      const before = best[set ^ (1 << bit)]
      const cost = before.cost + upward(last, before.order)
      if (best[set] === undefined || cost < best[set].cost)
        best[set] = { cost, order: [...before.order, last] }
    }
  }
  return best.at(-1).order
}

/** The arrows `[from, to]` of a graph, apart: those that point down, and the fewest that must point up. */
export function downAndUp(graph) {
  const plain = new Map([...graph].map(([module, targets]) => [module, [...targets.keys()].sort()]))
  const orders = circlesOf(plain).map((circle) => bestOrder(graph, circle))
  const pointsUp = ([from, to]) =>
    orders.some((order) => order.includes(to) && order.indexOf(from) > order.indexOf(to))
  const arrows = [...plain].flatMap(([from, targets]) => targets.map((to) => [from, to]))
  return { down: arrows.filter((arrow) => !pointsUp(arrow)), up: arrows.filter(pointsUp) }
}

/** Those of `arrows`, which make no circle, that no way over other modules stands for. */
export function withoutDetours(arrows) {
  const reaches = (from, to) =>
    arrows.some(([start, next]) => start === from && (next === to || reaches(next, to)))
  return arrows.filter(
    ([from, to]) => !arrows.some(([start, next]) => start === from && next !== to && reaches(next, to))
  )
}

/** The picture of a crate's files. */
export function picture(files) {
  const { down, up } = downAndUp(topLevel(files))
  const drawn = withoutDetours(down).map(([from, to]) => `  ${from} --> ${to}`)
  const listed = up.map(([from, to]) => `\`${from}\` → \`${to}\``)
  const against =
    listed.length > 0 ? `Against this order: ${listed.join(', ')}.` : 'None goes against this order.'
  return ['```mermaid', 'flowchart TD', ...drawn, '```', '', against].join('\n')
}

/** The picture of the engine. */
export const enginePicture = () => picture(graphsOfCrates().get('crates/engine/src/lib.rs'))

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(enginePicture())

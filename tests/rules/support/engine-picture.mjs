// Prints the picture of the engine's modules that stands in ARCHITECTURE.md: a flowchart of Mermaid.

import { pathToFileURL } from 'node:url'
import { circlesOf } from './circles.mjs'
import { graphsOfCrates } from './crates.mjs'

/** What any module may use, and what uses no module but these: not drawn. */
export const COMMON = ['error', 'iterator', 'key_prefix', 'read_tier', 'sync', 'thread_buffer']

/** The top-level modules of a crate, each with those that it uses. */
export function topLevel(files) {
  const graph = new Map()
  for (const [file, targets] of files) {
    const from = moduleOf(file)
    if (from === 'lib' || COMMON.includes(from)) continue
    const used = targets.map(moduleOf).filter((to) => to !== from && !COMMON.includes(to))
    graph.set(from, [...new Set([...(graph.get(from) ?? []), ...used])].sort())
  }
  return graph
}

const moduleOf = (file) => file.split('/')[0].replace(/\.rs$/, '')

/** Fails if top-level modules use each other in a circle. The message has the arrows of files that make it. */
function checkHasNoCircle(files, graph) {
  for (const circle of circlesOf(graph)) {
    const isIn = (file) => circle.includes(moduleOf(file))
    const arrows = [...files].flatMap(([from, targets]) =>
      targets
        .filter((to) => isIn(from) && isIn(to) && moduleOf(from) !== moduleOf(to))
        .map((to) => `\n  ${from} → ${to}`)
    )
    throw new Error(`a circle of modules: ${circle.join(', ')}${arrows.join('')}`)
  }
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
  const graph = topLevel(files)
  checkHasNoCircle(files, graph)
  const arrows = [...graph].flatMap(([from, targets]) => targets.map((to) => [from, to]))
  const drawn = withoutDetours(arrows).map(([from, to]) => `  ${from} --> ${to}`)
  return ['```mermaid', 'flowchart TD', ...drawn, '```'].join('\n')
}

/** The picture of the engine. */
export const enginePicture = () => picture(graphsOfCrates().get('crates/engine/src/lib.rs'))

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(enginePicture())

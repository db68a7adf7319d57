// The modules of our crates, and circles among them.

import { files, text } from '../tracked.mjs'
import { circlesBetweenConcepts, within } from './circles.mjs'
import { filesUsedByFiles, isPartOf } from './rust-modules.mjs'

/** Where each library and program begins. */
const starts = files.filter((file) =>
  /^crates\/[^/]+\/src\/(lib|main|bin\/[^/]+|bin\/[^/]+\/main)\.rs$/.test(file)
)

/** The text of a tracked source, or undefined. */
const read = (file) => (files.includes(file) ? text(file) : undefined)

/** Each library's and program's directory with the graph of its files, whose names are relative to that directory. */
export function graphsOfCrates() {
  return new Map(
    starts.map((start) => {
      const directory = start.slice(0, start.lastIndexOf('/') + 1)
      const name = (file) => file.slice(directory.length)
      const graph = [...filesUsedByFiles(start, read)]
      return [start, new Map(graph.map(([file, targets]) => [name(file), targets.map(name)]))]
    })
  )
}

/** The circles of a graph of files, each with its files and the arrows among them, written `from → to`. */
export const circlesWithArrows = (graph) =>
  circlesBetweenConcepts(graph, isPartOf).map((modules) => ({
    modules,
    arrows: [...within(graph, modules)].flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`))
  }))

/** The circles of all crates, by library or program. Those without any are left out. */
export function circlesOfCrates() {
  const circles = [...graphsOfCrates()].map(([start, graph]) => [start, circlesWithArrows(graph)])
  return new Map(circles.filter(([, found]) => found.length > 0))
}

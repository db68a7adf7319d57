// The modules of our crates, and the circles that are left among them: support/circles.txt, a list that may only get shorter.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { files, text } from '../tracked.mjs'
import { circlesBetweenConcepts, within } from './circles.mjs'
import { filesUsedByFiles, isPartOf } from './rust-modules.mjs'

const list = fileURLToPath(new URL('circles.txt', import.meta.url))

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

/** What is written down of circles: their files, and how many arrows hold them together. */
const summary = (circles) => circles.map(({ modules, arrows }) => ({ arrows: arrows.length, modules }))

/** The circles of today, by library or program. Those without any are left out. */
export function circlesOfCrates() {
  const circles = [...graphsOfCrates()].map(([start, graph]) => [start, circlesWithArrows(graph)])
  return new Map(circles.filter(([, found]) => found.length > 0))
}

/** The list as committed, in the form of `circlesOfCrates` but with counts of arrows. */
export function committedCircles() {
  const committed = new Map()
  const circles = readFileSync(list, 'utf8').trim().split(/\n\n/)
  for (const circle of circles.filter((text) => text !== '')) {
    const [head, ...modules] = circle.split(/\n +/)
    const [, start, arrows] = head.match(/^(\S+): (\d+) arrows$/)
    committed.set(start, [...(committed.get(start) ?? []), { modules, arrows: Number(arrows) }])
  }
  return committed
}

/**
 * What is wrong with the circles of one library or program, as messages: whatever is new, with the arrows that make it, and whatever is
 * still on the list but gone.
 */
export function differences(found, committed) {
  const worse = found.flatMap(({ modules, arrows }) => {
    const before = committed.find((circle) => circle.modules.some((module) => modules.includes(module)))
    const shown = `\n  ${arrows.join('\n  ')}`
    if (before === undefined) return [`a new circle: ${modules.join(', ')}${shown}`]
    const added = modules.filter((module) => !before.modules.includes(module))
    if (added.length > 0) return [`new in a circle: ${added.join(', ')}${shown}`]
    if (arrows.length > before.arrows)
      return [`more arrows in a circle, ${arrows.length} for ${before.arrows}:${shown}`]
    return []
  })
  const better = committed.flatMap((before) => {
    const left = found.filter(({ modules }) => modules.some((module) => before.modules.includes(module)))
    const modules = left.flatMap((circle) => circle.modules)
    const gone = before.modules.filter((module) => !modules.includes(module))
    if (gone.length > 0) return [`no longer in a circle: ${gone.join(', ')}`]
    if (left.length > 1) return [`a circle has come apart: ${before.modules.join(', ')}`]
    if (left[0].arrows.length < before.arrows)
      return [
        `fewer arrows in a circle, ${left[0].arrows.length} for ${before.arrows}: ${modules.join(', ')}`
      ]
    return []
  })
  return [...worse, ...better.map((message) => `${message}. \`make modules\` takes it off the list`)]
}

/** Whether the circles of one library or program grew, in number, in files or in arrows. Renamed files do not count. */
export function hasGrown(found, committed) {
  const sizes = (circles) => [
    circles.length,
    circles.flatMap(({ modules }) => modules).length,
    circles.reduce((sum, { arrows }) => sum + arrows, 0)
  ]
  const before = sizes(committed)
  return sizes(summary(found)).some((size, index) => size > before[index])
}

/** Writes the list anew: a line for each circle, and one for each of its files. */
export function writeCircles(circles) {
  const written = [...circles].flatMap(([start, found]) =>
    summary(found).map(({ modules, arrows }) => `${start}: ${arrows} arrows\n  ${modules.join('\n  ')}\n`)
  )
  writeFileSync(list, written.join('\n'))
}

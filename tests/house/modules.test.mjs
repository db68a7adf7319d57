// House rule about the modules of each package: imports run one way. Imports of types count as well, since a reader follows them.

import assert from 'node:assert/strict'
import path from 'node:path'
import test from 'node:test'
import { text, withExtension } from './tracked.mjs'

/** The circles that are left. This list may only get shorter. */
const CIRCLES = []

const sources = withExtension('.ts').filter((file) => /^packages\/[^/]+\/src\//.test(file))

/** The modules of its own package that a module imports or exports again. */
function importsOf(file) {
  const targets = [...text(file).matchAll(/^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"]/gm)]
  return targets.map(([, target]) =>
    path.posix.join(path.posix.dirname(file), target.replace(/\.m?js$/, '.ts'))
  )
}

/** Groups of modules each of which reaches all others of its group, by Tarjan's algorithm. */
function circlesOf(graph) {
  const [numbers, lowest, stack, circles] = [new Map(), new Map(), [], []]

  function visit(module) {
    numbers.set(module, numbers.size)
    lowest.set(module, numbers.get(module))
    stack.push(module)

    for (const next of graph.get(module) ?? []) {
      if (!numbers.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(module, Math.min(lowest.get(module), lowest.get(next)))
    }

    if (lowest.get(module) !== numbers.get(module)) return
    const circle = stack.splice(stack.indexOf(module))
    if (circle.length > 1 || graph.get(module)?.includes(module)) circles.push(circle.sort())
  }

  for (const module of graph.keys()) if (!numbers.has(module)) visit(module)
  return circles.sort()
}

test('a circle of imports is found', () => {
  const graph = new Map(Object.entries({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['d'], e: ['a'] }))
  assert.deepEqual(circlesOf(graph), [['a', 'b', 'c'], ['d']])
})

test('no circle of imports in the packages', () => {
  const graph = new Map(sources.map((file) => [file, importsOf(file)]))
  assert.ok(graph.get('packages/core/src/store.ts').includes('packages/core/src/write-queue.ts'))
  assert.deepEqual(circlesOf(graph), CIRCLES)
})

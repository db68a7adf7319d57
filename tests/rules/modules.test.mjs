// House rule about the modules of each package and crate: they use each other one way. Imports of types count as well, since a reader
// follows them.

import assert from 'node:assert/strict'
import path from 'node:path'
import test from 'node:test'
import { circlesOf } from './support/circles.mjs'
import { circlesOfCrates, circlesWithArrows, graphsOfCrates } from './support/crates.mjs'
import { filesUsedByFiles } from './support/rust-modules.mjs'
import { packageOf, text, withExtension } from './tracked.mjs'

const sources = withExtension('.ts').filter((file) => file.startsWith(`${packageOf(file)}/src/`))

/** The modules of the same package that a module imports or exports again. */
function importsOf(file) {
  const targets = [...text(file).matchAll(/^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"]/gm)]
  return targets.map(([, target]) =>
    path.posix.join(path.posix.dirname(file), target.replace(/\.m?js$/, '.ts'))
  )
}

test('a circle of imports is found', () => {
  const graph = new Map(Object.entries({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['d'], e: ['a'] }))
  assert.deepEqual(circlesOf(graph), [['a', 'b', 'c'], ['d']])
})

test('no circle of imports in the packages', () => {
  const graph = new Map(sources.map((file) => [file, importsOf(file)]))
  assert.ok(graph.get('packages/core/src/level/store.ts').includes('packages/core/src/write/write-queue.ts'))
  assert.ok(graph.has('packages/back-ends/lmdb/src/level.ts'))
  assert.deepEqual(circlesOf(graph), [])
})

/** The circles of a made-up crate. */
const circlesIn = (tree) => circlesWithArrows(filesUsedByFiles('lib.rs', (file) => tree[file]))

test('a circle in a crate is found, with its arrows', () => {
  const tree = {
    'lib.rs': 'mod a; mod b; mod c; mod d;',
    'a.rs': 'use crate::b::B; pub struct A(B);',
    'b.rs': 'pub struct B; impl B { fn f() -> crate::c::C {} }',
    'c.rs': 'pub struct C; fn g(a: &super::a::A) {}',
    'd.rs': 'use crate::a::A; pub struct D(A);'
  }
  assert.deepEqual(circlesIn(tree), [
    { modules: ['a.rs', 'b.rs', 'c.rs'], arrows: ['a.rs → b.rs', 'b.rs → c.rs', 'c.rs → a.rs'] }
  ])
  assert.deepEqual(circlesIn({ ...tree, 'c.rs': 'pub struct C;' }), [])
})

test('a module and its parts may use each other, but parts may not make a circle', () => {
  const tree = {
    'lib.rs': 'mod whole;',
    'whole.rs': 'mod first; mod second; pub struct Whole(first::First, second::Second);',
    'whole/first.rs': 'use super::Whole; pub struct First;',
    'whole/second.rs': 'use super::Whole; pub struct Second(super::first::First);'
  }
  assert.deepEqual(circlesIn(tree), [])
  const [circle] = circlesIn({ ...tree, 'whole/first.rs': 'use super::second::Second; pub struct First;' })
  assert.deepEqual(circle.modules, ['whole/first.rs', 'whole/second.rs'])
})

test('no circle of modules in the crates', () => {
  assert.ok(graphsOfCrates().get('crates/engine/src/lib.rs').size > 100)
  const wrong = [...circlesOfCrates()].flatMap(([start, circles]) =>
    circles.map(({ modules, arrows }) => `${start}: ${modules.join(', ')}\n  ${arrows.join('\n  ')}`)
  )
  assert.equal(wrong.join('\n'), '')
})

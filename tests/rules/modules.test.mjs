// House rule about the modules of each package and crate: they use each other one way. Imports of types count as well, since a reader
// follows them. The circles that are left in the crates are listed in support/circles.txt, and that list may only get shorter.

import assert from 'node:assert/strict'
import path from 'node:path'
import test from 'node:test'
import { circlesOf } from './support/circles.mjs'
import {
  circlesOfCrates,
  circlesWithArrows,
  committedCircles,
  differences,
  hasGrown
} from './support/crates.mjs'
import { filesUsedByFiles } from './support/rust-modules.mjs'
import { packageOf, text, withExtension } from './tracked.mjs'

const sources = withExtension('.ts').filter((file) => file.startsWith(`${packageOf(file)}/src/`))

/** The modules of its own package that a module imports or exports again. */
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

/** Such a circle as it is written down. */
const asCommitted = (circles) => circles.map(({ modules, arrows }) => ({ modules, arrows: arrows.length }))

const CIRCLE = {
  'lib.rs': 'mod a; mod b; mod c;',
  'a.rs': 'use crate::b::B; pub struct A(B);',
  'b.rs': 'pub struct B; impl B { fn f() -> crate::c::C {} }',
  'c.rs': 'pub struct C; fn g(a: &super::a::A) {}'
}

test('a circle in a crate fails, with its arrows, until it is on the list', () => {
  const circles = circlesIn(CIRCLE)
  assert.deepEqual(differences(circles, []), [
    'a new circle: a.rs, b.rs, c.rs\n  a.rs → b.rs\n  b.rs → c.rs\n  c.rs → a.rs'
  ])
  assert.ok(hasGrown(circles, []))
  assert.deepEqual(differences(circles, asCommitted(circles)), [])
  assert.ok(!hasGrown(circles, asCommitted(circles)))
})

test('a new member of a circle fails, and so does a new arrow', () => {
  const committed = asCommitted(circlesIn(CIRCLE))
  const member = circlesIn({
    ...CIRCLE,
    'lib.rs': `${CIRCLE['lib.rs']} mod d;`,
    'a.rs': `${CIRCLE['a.rs']} use crate::d::D;`,
    'd.rs': 'use crate::a::A; pub struct D(A);'
  })
  assert.match(differences(member, committed).join(), /^new in a circle: d\.rs\n[\s\S]*\n {2}d\.rs → a\.rs$/)
  const arrow = circlesIn({ ...CIRCLE, 'b.rs': `${CIRCLE['b.rs']} use crate::a::A;` })
  assert.match(
    differences(arrow, committed).join(),
    /^more arrows in a circle, 4 for 3:\n[\s\S]*b\.rs → a\.rs/
  )
  for (const circles of [member, arrow]) assert.ok(hasGrown(circles, committed))
})

test('what is gone must be taken off the list', () => {
  const committed = asCommitted(circlesIn(CIRCLE))
  const open = circlesIn({ ...CIRCLE, 'c.rs': 'pub struct C;' })
  assert.match(
    differences(open, committed).join(),
    /^no longer in a circle: a\.rs, b\.rs, c\.rs\. `make modules`/
  )
  const smaller = circlesIn({ ...CIRCLE, 'c.rs': 'pub struct C;', 'b.rs': 'use crate::a::A; pub struct B;' })
  assert.match(differences(smaller, committed).join(), /^no longer in a circle: c\.rs\. `make modules`/)
  assert.ok(!hasGrown(smaller, committed))
  assert.match(
    differences(circlesIn(CIRCLE), [{ ...committed[0], arrows: 4 }]).join(),
    /^fewer arrows in a circle, 3 for 4: a\.rs, b\.rs, c\.rs\. `make modules`/
  )
})

test('a circle that came apart is two', () => {
  const tree = { 'lib.rs': 'mod a; mod b; mod c; mod d;', 'a.rs': 'use crate::b::B; pub struct A;' }
  tree['b.rs'] = 'use crate::a::A; pub struct B;'
  tree['c.rs'] = 'use crate::d::D; pub struct C;'
  tree['d.rs'] = 'use crate::c::C; pub struct D;'
  const found = differences(circlesIn(tree), [{ arrows: 6, modules: ['a.rs', 'b.rs', 'c.rs', 'd.rs'] }])
  assert.match(found.join(), /^a circle has come apart: a\.rs, b\.rs, c\.rs, d\.rs\. `make modules`/)
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

test('the circles in the crates are those of the list', () => {
  const [found, committed] = [circlesOfCrates(), committedCircles()]
  const starts = [...new Set([...found.keys(), ...committed.keys()])]
  const wrong = starts.flatMap((start) =>
    differences(found.get(start) ?? [], committed.get(start) ?? []).map((message) => `${start}: ${message}`)
  )
  assert.equal(wrong.join('\n'), '')
})

// House rule: the picture of the engine's modules in ARCHITECTURE.md is true.

import assert from 'node:assert/strict'
import test from 'node:test'
import { graphsOfCrates } from './support/crates.mjs'
import { COMMON, enginePicture, picture, topLevel, withoutDetours } from './support/engine-picture.mjs'
import { text } from './tracked.mjs'

const engine = graphsOfCrates().get('crates/engine/src/lib.rs')

test('files are drawn as their top-level modules', () => {
  const files = new Map([
    ['lib.rs', ['a/mod.rs']],
    ['a/mod.rs', ['a/b.rs', 'error.rs']],
    ['a/b.rs', ['c.rs', 'd/e.rs']],
    ['a/f.rs', ['c.rs']],
    ['c.rs', []],
    ['d/e.rs', ['c.rs']],
    ['error.rs', []]
  ])
  assert.deepEqual(topLevel(files).get('a'), ['c', 'd'])
  assert.equal(picture(files), '```mermaid\nflowchart TD\n  a --> d\n  d --> c\n```')
})

test('modules that use each other in a circle cannot be drawn', () => {
  const files = new Map([
    ['a/mod.rs', []],
    ['a/b.rs', ['c.rs']],
    ['c.rs', ['d.rs']],
    ['d.rs', ['a/mod.rs']],
    ['e.rs', ['a/b.rs']]
  ])
  assert.throws(() => picture(files), {
    message: 'a circle of modules: a, c, d\n  a/b.rs → c.rs\n  c.rs → d.rs\n  d.rs → a/mod.rs'
  })
})

test('an arrow is left out where a longer way leads there', () => {
  const way = [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'd']
  ]
  assert.deepEqual(withoutDetours([...way, ['a', 'd'], ['e', 'd']]), [...way, ['e', 'd']])
})

test('what the picture leaves out uses nothing that it shows', () => {
  const moduleOf = (file) => file.split('/')[0].replace(/\.rs$/, '')
  const used = [...engine]
    .filter(([file]) => COMMON.includes(moduleOf(file)))
    .flatMap(([, targets]) => targets)
  assert.deepEqual(
    used.map(moduleOf).filter((module) => !COMMON.includes(module)),
    []
  )
})

test('the picture of the engine in ARCHITECTURE.md is what `make modules` draws', () => {
  const [, drawn] = text('ARCHITECTURE.md').match(/<!-- modules -->\n\n([\s\S]*?)\n\n<!-- \/modules -->/)
  assert.equal(drawn, enginePicture())
})

// Tests of what finds out which Rust module uses which.

import assert from 'node:assert/strict'
import test from 'node:test'
import { graphsOfCrates } from './support/crates.mjs'
import { filesUsedByFiles, isPartOf, pathsOfUse } from './support/rust-modules.mjs'
import { withoutLiterals, withoutTests } from './support/rust-text.mjs'
import { withExtension } from './tracked.mjs'

/** What each file of a made-up crate uses. */
const uses = (tree) => Object.fromEntries(filesUsedByFiles('lib.rs', (file) => tree[file]))

/** What `a.rs` uses, in a crate that also has `b.rs` and a directory `c`. */
const usesOf = (source, more = {}) =>
  uses({
    'lib.rs': 'mod a; mod b; mod c;',
    'a.rs': source,
    'b.rs': 'pub struct B;',
    'c/mod.rs': 'pub mod inner; mod hidden; pub use hidden::Hidden; pub use inner::*; pub struct C;',
    'c/inner.rs': 'pub struct Inner;',
    'c/hidden.rs': 'pub struct Hidden;',
    ...more
  })['a.rs']

test('comments, strings and characters are blanked out, and nothing else', () => {
  const kept = (source) => withoutLiterals(source).replace(/\s+/g, ' ').trim()
  assert.equal(kept('a // b\nc /* d /* e */ f */ g'), 'a c g')
  assert.equal(kept('a "b \\" // c" d'), 'a d')
  assert.equal(kept('a r#"b " c"# d br"e" f b"\\\\" g c"h" i'), 'a d f g i')
  assert.equal(kept(`a '"' b '\\'' c b'"' d '\\u{1f600}' e "f"`), 'a b c d e')
  assert.equal(kept("fn f<'a, 'b>(x: &'a str) -> &'b str"), "fn f<'a, 'b>(x: &'a str) -> &'b str")
  assert.equal(withoutLiterals('a /* \n */ "\n" b').split('\n').length, 3)
})

test('what only tests compile is blanked out, and nothing else', () => {
  const kept = (source) => withoutTests(source).replace(/\s+/g, ' ').trim()
  assert.equal(kept('a; #[cfg(test)] mod tests { use b; } c'), 'a; c')
  assert.equal(kept('a; #[cfg(test)] mod tests; c'), 'a; c')
  assert.equal(kept('#[cfg(test)] use a::{b, c}; d'), 'd')
  assert.equal(kept('#[cfg(all(test, loom))] #[derive(A)] struct B<C, D> { e: [F; 2] } g'), 'g')
  assert.equal(kept('enum A { B, #[cfg(test)] C(crate::d::E), F }'), 'enum A { B, F }')
  assert.equal(kept('match a { #[cfg(test)] B(c) => { d } E => f }'), 'match a { E => f }')
  assert.equal(kept('#![cfg(test)] a'), '')
  for (const source of [
    '#[cfg(not(test))] a;',
    '#[cfg(any(test, unix))] a;',
    '#[cfg(not(all(test, loom)))] a;'
  ]) {
    assert.equal(kept(source), source)
  }
})

test('a `use` names paths', () => {
  const names = (tree) => pathsOfUse(tree).map(({ words, name }) => `${words.join('::')} ${name}`)
  assert.deepEqual(names('crate::a::B'), ['crate::a::B B'])
  assert.deepEqual(names('crate::a::{self, B as C, d::{E, F},}'), [
    'crate::a a',
    'crate::a::B C',
    'crate::a::d::E E',
    'crate::a::d::F F'
  ])
  assert.deepEqual(names('super::super::a::*'), ['super::super::a *'])
})

test('every form of path counts', () => {
  assert.deepEqual(usesOf('use crate::b::B;'), ['b.rs'])
  assert.deepEqual(usesOf('pub(crate) use super::{b::B, c::C};'), ['b.rs', 'c/mod.rs'])
  assert.deepEqual(usesOf('fn f() -> crate::b::B { g() }'), ['b.rs'])
  assert.deepEqual(usesOf('macro_rules! m { () => { $crate::b::B } }'), ['b.rs'])
  assert.deepEqual(usesOf('use crate::c; fn f(x: c::inner::Inner) {}'), ['c/inner.rs', 'c/mod.rs'])
  assert.deepEqual(usesOf('mod own { use super::super::b::B; } use own::B;'), ['b.rs'])
})

test('what is exported again counts where it is defined', () => {
  assert.deepEqual(usesOf('use crate::c::Hidden;'), ['c/hidden.rs'])
  assert.deepEqual(usesOf('use crate::c::Inner;'), ['c/inner.rs'])
  assert.deepEqual(usesOf('use crate::c::C;'), ['c/mod.rs'])
})

test('comments, strings, tests and other crates do not count', () => {
  assert.deepEqual(usesOf('//! [`crate::b::B`]\n/* use crate::b::B; */ const A: &str = "crate::b::B";'), [])
  assert.deepEqual(usesOf('#[cfg(test)] mod tests { use crate::b::B; }'), [])
  assert.deepEqual(usesOf('use std::b::B; fn f(b: other::b::B) {}'), [])
})

test('a method that a file adds to a type of another file is used by its callers', () => {
  const added = { 'c/hidden.rs': 'use crate::b::B; impl B { pub fn added(&self) {} }' }
  assert.deepEqual(usesOf('fn f(x: X) { x.added() }', added), ['c/hidden.rs'])
  const twice = { 'c/hidden.rs': `${added['c/hidden.rs']} struct D; impl D { fn added(&self) {} }` }
  assert.deepEqual(usesOf('fn f(x: X) { x.added() }', twice), [])
})

test('parts of a module are below it', () => {
  assert.ok(isPartOf('picker/plan.rs', 'picker.rs'))
  assert.ok(isPartOf('write/commit_queue.rs', 'write/mod.rs'))
  assert.ok(!isPartOf('write/commit_queue.rs', 'write.rs/mod.rs'))
  assert.ok(!isPartOf('picker.rs', 'picker/plan.rs'))
})

test('a module without a file is an error', () => {
  assert.throws(() => uses({ 'lib.rs': 'mod gone;' }), /lib\.rs: no file for `mod gone`/)
})

test('the arrows of the engine are seen', () => {
  const graph = graphsOfCrates().get('crates/engine/src/lib.rs')
  assert.ok(graph.get('version/version.rs').includes('version/table_cache.rs'))
  assert.ok(graph.get('memtable/sort.rs').includes('memtable/arena.rs'))
  // What only tests compile, sync/locks.rs for the model checker among it.
  const isTest = /\b(tests?|testing|test_support|models|modelled|locks|simulation)\b/
  const sources = withExtension('.rs').filter(
    (file) => file.startsWith('crates/engine/src/') && !isTest.test(file)
  )
  const unseen = sources.filter((file) => !graph.has(file.slice('crates/engine/src/'.length)))
  assert.deepEqual(unseen, [])
})

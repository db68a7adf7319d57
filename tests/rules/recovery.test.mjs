// House rule: the page on recovery is complete. Each case names the files that deal with it and the tests that show it.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { root, text } from './tracked.mjs'

const DIRECTORY = 'crates/engine/src/recovery'
const TESTS = 'crates/engine/tests/all'

/** The cells of the page's table, row by row, without its two head lines. */
function rows() {
  const lines = text(`${DIRECTORY}/mod.rs`).match(/^\/\/! \|.*\|$/gm) ?? []
  return lines.slice(2).map((line) =>
    line
      .slice('//! |'.length, -1)
      .split('|')
      .map((cell) => cell.trim())
  )
}

const quoted = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)

/** The source of a module: `log_end` is of the directory itself, `version/recover` of another. */
function source(module) {
  const base = module.includes('/') ? 'crates/engine/src' : DIRECTORY
  return `${base}/${module}.rs`
}

test('each case of recovery names files and tests that exist', () => {
  const cases = rows()
  assert.ok(cases.length >= 10)

  for (const [name, action, where, shown, ...rest] of cases) {
    assert.ok(action && rest.length === 0, name)
    assert.ok(quoted(where).length > 0, name)

    for (const module of quoted(where)) {
      assert.ok(existsSync(path.join(root, source(module))), `${name}: ${module}`)
    }

    const [file, ...tests] = quoted(shown)
    assert.ok(tests.length > 0, name)
    const code = text(`${TESTS}/${file}`)

    for (const one of tests) {
      assert.match(code, new RegExp(`#\\[test\\]\\nfn ${one}\\(\\)`), `${name}: ${file} has no test ${one}`)
    }
  }
})

test('every file of recovery deals with a case, or is used by one that does', () => {
  const named = new Set(rows().flatMap(([, , where]) => quoted(where)))
  const files = readdirSync(path.join(root, DIRECTORY)).filter((file) => file.endsWith('.rs'))
  const others = files.map((file) => file.slice(0, -'.rs'.length)).filter((name) => !named.has(name))
  assert.deepEqual(others.sort(), ['mod', 'source'])
})

// House rule: docs/errors.md lists every code of JavaScript, every kind of the engine's errors and every class of Ruby, and no other.

import assert from 'node:assert/strict'
import test from 'node:test'
import { files, text } from './tracked.mjs'

const PAGE = 'docs/errors.md'

/** Codes in the sources that are Node's, mysql2's or the operating system's. */
const FOREIGN = [
  'EAI_AGAIN',
  'ERR_MODULE_NOT_FOUND',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'HANDSHAKE_SSL_ERROR',
  'MODULE_NOT_FOUND',
  'PROTOCOL_CONNECTION_LOST'
]

/** What the files that `pattern` matches contain, once each, in order. */
function found(pattern, part) {
  const sources = files.filter((file) => pattern.test(file))
  return [...new Set(sources.flatMap((file) => text(file).match(part) ?? []))].sort()
}

/** What the page's tables list in the columns with this title. */
function listed(title) {
  const tables = text(PAGE)
    .split('\n\n')
    .filter((part) => part.startsWith('|'))
  const names = tables.flatMap((table) => {
    const [head, , ...rows] = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    const column = head.indexOf(title)
    return column < 0 ? [] : rows.flatMap((cells) => cells[column]?.match(/(?<=`)\w+(?=`)/g) ?? [])
  })
  return [...new Set(names)].sort()
}

/** The variants of `ErrorKind`. */
function variants() {
  const [, body] = text('crates/engine/src/error.rs').match(/pub enum ErrorKind \{(.*?)^\}/ms)
  return body.match(/(?<=^ {4})\w+(?=,$)/gm).sort()
}

test('every code of JavaScript has a row, and every row a code', () => {
  const codes = found(/^packages\/(back-ends\/)?[\w-]+\/src\/.*\.m?ts$/, /(?<=')[A-Z]+(_[A-Z]+)+(?=')/g)
  assert.ok(codes.length > 100)
  assert.deepEqual(
    listed('JavaScript code'),
    codes.filter((code) => !FOREIGN.includes(code))
  )
  assert.deepEqual(
    FOREIGN.filter((code) => !codes.includes(code)),
    []
  )
})

test('every kind of the engine has a row, and every row a kind', () => {
  assert.ok(variants().length > 10)
  assert.deepEqual(listed('Rust `ErrorKind`'), variants())
})

test('every class of Ruby has a row, and every row a class', () => {
  const classes = found(/^ruby\/lib\/.*\.rb$/, /(?<=^ *class )\w*Error(?= < )/gm)
  assert.ok(classes.length > 8)
  assert.deepEqual(listed('Ruby class'), classes)
})

// Texts: the same ones in every language; Markdown; comparisons; random input.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparison } from '../dist/comparison.js'
import { firstLines, lastLines } from '../dist/excerpt.js'
import { rendered } from '../dist/markdown.js'
import { denialIn } from '../dist/permission.js'
import { Random } from '../dist/random.js'
import { allTexts, speaker } from '../dist/texts/index.js'

test('every language has the same texts, with the same names in them', () => {
  const { en, ...others } = allTexts
  assert.deepEqual(Object.keys(others), ['de'])
  const namesIn = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()
  for (const texts of Object.values(others)) {
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort())
    for (const key of Object.keys(en)) {
      assert.deepEqual(namesIn(texts[key]), namesIn(en[key]), key)
      assert.notEqual(texts[key].trim(), '', key)
    }
  }
  const commands = (help) => [...help.matchAll(/^ {2}(?:\(|--)?([a-z]+)/gm)].map(([, name]) => name).slice(1)
  assert.deepEqual(commands(others.de.help), commands(en.help))
})

test('a language that the runner does not know is spoken to in English', () => {
  assert.equal(speaker('fr')('no-hint'), allTexts.en['no-hint'])
  assert.equal(
    speaker('en')('no-exercise', { name: '{name} $&' }),
    "There is no exercise '{name} $&'. list shows them all."
  )
})

const marked = (format, text) => `<${format}>${text}</${format}>`

test('Markdown: headings, code, lists', () => {
  const markdown =
    '# Title `x`\n\nSome `code` here.\n- one\n  * two\n1. first\n\n```js\n# no heading\n- `no` list\n\n```\n~~~\n```\n~~~\nend'
  assert.equal(
    rendered(markdown, marked, 80),
    [
      '<bold>Title x</bold>',
      '',
      'Some <cyan>code</cyan> here.',
      '  • one',
      '    • two',
      '  1. first',
      '',
      '<dim>    # no heading</dim>',
      '<dim>    - `no` list</dim>',
      '',
      '<dim>    ```</dim>',
      'end'
    ].join('\n')
  )
})

test('Markdown: emphasis, but not of asterisks that mean something else', () => {
  const shown = (text) => rendered(text, marked, 80)
  assert.equal(
    shown('a *stream* of *async bytes*, *x*'),
    'a <bold>stream</bold> of <bold>async bytes</bold>, <bold>x</bold>'
  )
  assert.equal(shown('`a*b*c` *d*'), '<cyan>a*b*c</cyan> <bold>d</bold>')
  for (const text of ['2 * 3 * 4', 'src/*.mjs', '** and **']) assert.equal(shown(text), text)
})

test('Markdown: paragraphs and items fill the width, and neither words nor code are broken', () => {
  const markdown =
    '# A heading that is longer than the width\n\nOne two\nthree `get(key, value)`, four\n- five six seven eight\n  nine\n\n| a table | that is wide |\n\n    ten\n\n```\ncode that is long\n```'
  assert.equal(
    rendered(markdown, (_, text) => text, 20),
    [
      'A heading that is longer than the width',
      '',
      'One two three',
      'get(key, value),',
      'four',
      '  • five six seven',
      '    eight nine',
      '',
      '| a table | that is wide |',
      '',
      'ten',
      '',
      '    code that is long'
    ].join('\n')
  )
})

test('a comparison shows short values beside each other, and long ones from their first difference', () => {
  const say = speaker('en')
  assert.equal(comparison(1, '1', say), "expected:  1\nyours:     '1'")
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`)
  const text = comparison(lines.join('\n'), lines.with(19, 'other').join('\n'), say)
  assert.match(
    text,
    /^The first difference is in line 20:\nexpected:\n {2}line 18\n {2}line 19\n\+ line 20\n/
  )
  assert.match(text, /\nyours:\n {2}line 18\n {2}line 19\n- other\n/)
  assert.match(comparison('a\nb', 'a\nb\nc', say), /line 3:/)
  // They differ in a newline at the end alone.
  assert.equal(comparison('a\nb\n', 'a\nb', say), "expected:  'a\\nb\\n'\nyours:     'a\\nb'")
})

test('long texts are cut', () => {
  assert.equal(firstLines('a\nb\nc\n', 2), 'a\nb\n…')
  assert.equal(firstLines('a\nb\n', 2), 'a\nb')
  assert.equal(lastLines('a\nb\nc\n', 2), '…\nb\nc')
  assert.equal(firstLines('x'.repeat(1000), 1), `${'x'.repeat(300)}…`)
})

test('random input follows from its seed, and reaches all that it may', () => {
  const make = (seed) => {
    const random = new Random(seed)
    return [
      random.integer(0, 1e9),
      random.word(5),
      random.pick([1, 2, 3]),
      random.shuffled([1, 2, 3, 4]),
      random.bytes(4)
    ]
  }
  assert.deepEqual(make(5), make(5))
  assert.notDeepEqual(make(5), make(6))
  const random = new Random(0)
  const counts = new Map()
  for (let number = 0; number < 6000; number++) {
    const value = random.integer(1, 6)
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  assert.deepEqual([...counts.keys()].sort(), [1, 2, 3, 4, 5, 6])
  for (const count of counts.values()) assert.ok(count > 850 && count < 1150, String(count))
  assert.deepEqual(random.shuffled([1, 2, 3]).sort(), [1, 2, 3])
})

test('what a Node has refused is read from its error', () => {
  const text =
    "Error\n {\n  code: 'ERR_ACCESS_DENIED',\n  permission: 'FileSystemWrite',\n  resource: '/a/it is.txt'\n}\n"
  assert.deepEqual(denialIn(text), { permission: 'FileSystemWrite', resource: '/a/it is.txt' })
  const windows = text.replace('/a/it is.txt', 'C:\\\\a\\\\b.txt')
  assert.equal(denialIn(windows).resource, 'C:\\a\\b.txt')
  assert.equal(denialIn('Error: no'), undefined)
})

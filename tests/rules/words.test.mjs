// House rules about the words of documents.

import assert from 'node:assert/strict'
import test from 'node:test'
import { faultsIn, MAX_WIDTH } from './support/prose.mjs'
import { text, withExtension } from './tracked.mjs'

/** Not prose of ours, or not for this rule. */
const LEFT_OUT = [
  /^testdata\//, // whose documents describe what others wrote
  /^bench\/results\//, // printed by benchmarks
  /^courses\/[^/]+\/exercises\/.*\.de\.md$/ // in German
]

/** One line for each change. */
const WIDTHS = { 'CHANGELOG.md': 120 }

const documents = withExtension('.md').filter((file) => !LEFT_OUT.some((part) => part.test(file)))

test('documents are in plain sentences; tests/rules/support/prose.mjs lists what is not', () => {
  assert.ok(documents.length > 60)
  const faults = documents.flatMap((file) =>
    faultsIn(text(file), WIDTHS[file]).map((fault) => `${file}:${fault.line}: ${fault.what}: ${fault.text}`)
  )
  assert.equal(faults.length, 0, `\n${faults.join('\n')}\n`)
})

test('patterns, long sentences and wide lines are found in prose, and nowhere else', () => {
  const what = (markdown) => faultsIn(markdown).map(({ line, what }) => `${line} ${what}`)
  assert.deepEqual(what('# Title\n\nNobody is\ntold so.\n'), ['3 pattern', '3 pattern'])
  assert.deepEqual(what(`${'word '.repeat(12)}\n${'word '.repeat(14)}end.\n`), ['1 sentence'])
  assert.deepEqual(what(`a ${'b'.repeat(MAX_WIDTH)}\n`), ['1 width'])
  assert.deepEqual(what('| nobody |\n|---|\n| 1 |\n'), ['1 pattern'])
  for (const sound of [
    '```\nnobody\n```\n',
    '`nobody`\n',
    '<!-- nobody -->\n',
    '<!-- results -->\nnobody\n<!-- /results -->\n',
    `[${'b'.repeat(MAX_WIDTH)}](https://example.org)\n`,
    `${'word '.repeat(15)}.\nAnother ${'word '.repeat(15)}.\n`.replace(/(.{60}) /g, '$1\n'),
    `- ${'word '.repeat(15)}\n- ${'word '.repeat(15)}\n`
  ]) {
    assert.deepEqual(what(sound), [], sound)
  }
})

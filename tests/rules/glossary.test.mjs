// House rule about words: docs/glossary.md is in order, its terms are used, and what it advises against is not.

import assert from 'node:assert/strict'
import test from 'node:test'
import { matches, text, withExtension } from './tracked.mjs'

const GLOSSARY = 'docs/glossary.md'

/** What we write ourselves: sources and documents without data and without what tests other people's programs. */
const ours = withExtension('.rs', '.ts', '.mts', '.js', '.mjs', '.rb', '.py', '.h', '.c', '.md').filter(
  (file) =>
    file !== GLOSSARY &&
    !/^(testdata|bench\/results|tests\/(interop|downstream|bundlers|browser|platforms|published\/checkers|upgrading|back-ends))\//.test(
      file
    ) &&
    !file.startsWith('tests/rules/')
)

/** The rows of the table under the heading `first`, as cells. */
function rowsUnder(first) {
  const [, rows] = text(GLOSSARY).match(new RegExp(`^\\| ${first} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm'))
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
}

/** Finds a term however its words are joined, `commit_token` and `commit-token`; in `CommitToken` only if `inNames`. */
const finder = (term, inNames) =>
  inNames
    ? new RegExp(term.split(/[ -]/).join('[ _-]?'), 'i')
    : new RegExp(`(?<![a-z])${term.split(/[ -]/).join('[ _-]')}s?(?![a-z])`, 'i')

test('each term has one line, in alphabetical order, with a meaning and a link', () => {
  const rows = rowsUnder('term')
  const terms = rows.map(([term]) => term.toLowerCase())
  assert.ok(terms.length > 40)
  assert.deepEqual(terms, [...new Set(terms)].sort())
  assert.deepEqual(
    rows.filter(([, meaning, more]) => meaning === '' || !/^\[[^\]]+\]\(\S+\)$/.test(more)),
    []
  )
})

test('each term is used', () => {
  const texts = ours.map(text)
  const unused = rowsUnder('term')
    .map(([term]) => term)
    .filter((term) => !texts.some((content) => finder(term, true).test(content)))
  assert.deepEqual(unused, [])
})

test('what the glossary advises against is not used, and what it advises is in it', () => {
  const rows = rowsUnder('instead of')
  const found = rows.flatMap(([word]) => ours.flatMap((file) => matches(file, finder(word, false))))
  assert.deepEqual(found, [])
  const explained = text(GLOSSARY).toLowerCase()
  assert.deepEqual(
    rows.filter(([, term]) => term !== 'directory' && !explained.includes(`\n| ${term}`)),
    []
  )
})

test('an unwanted word is found in prose and in names', () => {
  const unwanted = finder('commit lock', false)
  for (const line of ['the commit lock', 'Commit-Locks', 'let commit_lock = 1']) assert.match(line, unwanted)
  assert.doesNotMatch('commit locking', unwanted)
  assert.doesNotMatch('MemTable', finder('mem table', false))
})

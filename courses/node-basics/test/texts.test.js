// What learners read: it fits on a screen, and is there in both languages.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const workshop = fileURLToPath(new URL('../', import.meta.url))
const { exercises } = JSON.parse(readFileSync(join(workshop, 'workshop.json'), 'utf8'))
const directories = exercises.map((name) => join(workshop, 'exercises', name))
const linesOf = (file) => readFileSync(file, 'utf8').trimEnd().split('\n')

/** The files below a directory with this extension. */
const filesBelow = (directory, extension) =>
  readdirSync(join(workshop, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))

const MAX_LINES = 40
const MAX_COLUMNS = 80

test('a problem fits on a screen, and has an example', () => {
  const problems = filesBelow('exercises', '.md').filter((file) => /problem\.\w+\.md$/.test(file))
  assert.equal(problems.length, 2 * exercises.length)
  for (const file of problems) {
    const lines = linesOf(file)
    assert.ok(lines.length <= MAX_LINES, `${file} has ${lines.length} lines`)
    // The address of a page stays whole.
    const long = lines.filter((line) => line.length > MAX_COLUMNS && !/^https:\S+$/.test(line))
    assert.deepEqual(long, [], file)
    assert.ok(lines.includes('```'), `${file} has no example`)
  }
})

test('an exercise has two or three hints, and two wrong programs or more', () => {
  for (const directory of directories) {
    const hints = readFileSync(join(directory, 'hint.en.md'), 'utf8').split(/^---$/m).length
    assert.ok(hints === 2 || hints === 3, `${directory} has ${hints} hints`)
    assert.ok(readdirSync(join(directory, 'wrong')).length >= 2, directory)
  }
})

test('a link leads to pages on Node or the web', () => {
  const links = filesBelow('exercises', '.md').flatMap(
    (file) => readFileSync(file, 'utf8').match(/https?:\/\/[^\s`]+/g) ?? []
  )
  const pages = links.filter((link) => !link.startsWith('http://127.0.0.1'))
  assert.ok(pages.length >= 2 * exercises.length)
  assert.deepEqual(
    pages.filter((link) => !/^https:\/\/(nodejs\.org|developer\.mozilla\.org)\//.test(link)),
    []
  )
})

test('every message of a check is there in both languages', () => {
  const files = [...filesBelow('checks', '.mjs'), ...directories.map((each) => join(each, 'check.mjs'))]
  let count = 0
  for (const file of files) {
    assert.ok(existsSync(file), file)
    const languages = [...readFileSync(file, 'utf8').matchAll(/\b(en|de):/g)].map((match) => match[1])
    count += languages.length
    assert.deepEqual(
      languages,
      languages.map((_, index) => (index % 2 === 0 ? 'en' : 'de')),
      file
    )
    assert.equal(languages.length % 2, 0, file)
  }
  assert.ok(count > 2 * exercises.length)
})

test('the workshop has the version of its package', () => {
  const versionOf = (file) => JSON.parse(readFileSync(join(workshop, file), 'utf8')).version
  assert.equal(versionOf('workshop.json'), versionOf('package.json'))
})

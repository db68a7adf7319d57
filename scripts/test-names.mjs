// Lists the names of all tests at a commit, or compares those of two: what was removed, renamed or added. Names are read from the
// sources, so nothing is built or run. A name that a loop makes counts once, as it is written.
//
//   node scripts/test-names.mjs COMMIT            every name, with its file
//   node scripts/test-names.mjs BEFORE AFTER      what differs, and counts. AFTER may be `.`, the working tree

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** How tests are written in each language. The first group is the name, or what has it in quotes. */
const LANGUAGES = [
  { files: /\.rs$/, tests: /#\[test\]\s*(?:#\[[^\]]*\]\s*)*(?:pub )?fn (\w+)/g },
  // Wrappers of a suite begin with `test` too.
  {
    files: /\.(test|tests)\.[cm]?js$|\/test\/.*\.[cm]?js$/,
    tests: /\b(?:test\w*|it)\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)\s*,/g
  },
  { files: /\.rb$/, tests: /^\s*def (test_\w+)/gm }
]

const [before, after] = process.argv.slice(2)
if (before === undefined) {
  console.error('usage: node scripts/test-names.mjs COMMIT [COMMIT or .]')
  process.exit(2)
}

const old = namesAt(before)
if (after === undefined) {
  for (const [name, files] of [...old].sort()) for (const file of files) console.log(`${file}: ${name}`)
} else {
  const current = namesAt(after)
  const removed = missing(old, current)
  const added = missing(current, old)
  for (const [sign, differences] of [
    ['-', removed],
    ['+', added]
  ]) {
    for (const { name, files, count } of differences)
      console.log(`${sign} ${name}${count > 1 ? ` (${count} times)` : ''} · ${files.join(', ')}`)
  }
  console.log(
    `${total(old)} before, ${total(current)} now; ${sum(removed)} removed or renamed, ${sum(added)} added`
  )
}

/** The files that have a test of each name. */
function namesAt(commit) {
  const names = new Map()
  for (const [file, text] of sourcesAt(commit)) {
    const language = LANGUAGES.find(({ files }) => files.test(file))
    for (const [, found] of text.matchAll(language.tests)) {
      const name = found.replace(/^['"`]|['"`]$/g, '').replace(/\s+/g, ' ')
      names.set(name, [...(names.get(name) ?? []), file])
    }
  }
  return names
}

/** The text of each file that may have tests. */
function sourcesAt(commit) {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 30 })
  const isHere = commit === '.'
  const listed = isHere ? git('ls-files', '-z') : git('ls-tree', '-r', '-z', '--name-only', commit)
  const files = listed.split('\0').filter((file) => LANGUAGES.some((language) => language.files.test(file)))
  if (isHere) return files.filter(existsSync).map((file) => [file, readFileSync(file, 'utf8')])

  const input = files.map((file) => `${commit}:${file}\n`).join('')
  const output = execFileSync('git', ['cat-file', '--batch'], { input, maxBuffer: 1 << 30 })
  let at = 0
  return files.map((file) => {
    const end = output.indexOf('\n', at)
    const size = Number(output.subarray(at, end).toString().split(' ')[2])
    at = end + 1 + size + 1
    return [file, output.subarray(end + 1, end + 1 + size).toString()]
  })
}

/** What `names` has more often than `others`. */
function missing(names, others) {
  return [...names]
    .map(([name, files]) => ({ name, files, count: files.length - (others.get(name)?.length ?? 0) }))
    .filter(({ count }) => count > 0)
}

function total(names) {
  return [...names.values()].reduce((all, files) => all + files.length, 0)
}

function sum(differences) {
  return differences.reduce((all, { count }) => all + count, 0)
}

// Prints the table of programs in a document, with ratios of bench/results/leveldown-programs.md as its last column:
//
//   node bench/packages/leveldown/columns.js FILE | node scripts/embed.mjs /dev/stdin FILE programs
//
// The ratios are those of processor time, which compares better on a busy machine. A row has that of the program and version that its
// first two cells name; most rows name several versions.

import { readFileSync } from 'node:fs'

/** The cells of a row that come from the document. */
const OWN = 3

const text = readFileSync(process.argv[2], 'utf8')
const results = readFileSync(new URL('../../results/leveldown-programs.md', import.meta.url), 'utf8')

const cells = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const rows = (lines) => lines.split('\n').filter((line) => line.startsWith('| '))

/** Each program with its version and its ratio: those of the first table. */
const ratios = rows(results.split('\n\n')[0])
  .slice(1)
  .map(cells)
  .map((row) => [...row[0].split(' '), row.at(-1)])

const table = text.slice(text.indexOf('<!-- programs -->'), text.indexOf('<!-- /programs -->'))
const [titles, ...programs] = rows(table).map((line) => cells(line).slice(0, OWN))
if (titles === undefined)
  throw new Error(`${process.argv[2]} has no table between <!-- programs --> and its end`)

const print = (row) => console.log(`| ${row.join(' | ')} |`)
print([...titles, 'times as fast, by processor time'])
console.log(`|${'---|'.repeat(OWN)}---:|`)
for (const [names, versions, what] of programs) {
  const name = names.split(',')[0]
  const found = ratios.find(
    ([program, version]) => program === name && versions.split(/[,;] /).includes(version)
  )
  print([names, versions, what, found?.[2] ?? '–'])
}

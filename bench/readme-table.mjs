// Prints the README's table of results: a few rows of bench/results/rivals.md (each engine as its documentation recommends). With a file it
// also draws more rows of it, and of bench/results/node.md, as ratios. `make bench-rivals` and `make bench-node` run it:
//
//   node bench/readme-table.mjs bench/results/summary.svg

import { readFileSync, writeFileSync } from 'node:fs'
import { ratioDots } from './node/src/plot/dots.js'
import { draw } from './node/src/plot/draw.js'

/** The rows of the table, with the row and the file that each comes from. */
const IN_TABLE = [
  ['write in random order', 'rivals', 'fillrandom'],
  ['read a random key', 'rivals', 'readrandom 2'],
  ['seek to a random key', 'rivals', 'seekrandom 2']
]
/** The rows of the picture. */
const IN_PICTURE = [
  ['write in order', 'rivals', 'fillseq'],
  ['write in random order', 'rivals', 'fillrandom'],
  ['write with `sync`', 'rivals', 'fillsync'],
  ['read at random', 'rivals', 'readrandom 2'],
  ['scan, per entry', 'rivals', 'readseq 2'],
  ['Node: `await put`', 'node', 'put, concurrency 1'],
  ['Node: `await get`', 'node', 'get, concurrency 1'],
  ['Node: `for await`, per entry', 'node', 'for await, per entry']
]
const ENGINES = ['terrace', 'leveldb', 'rocksdb', 'lmdb']

const cells = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The rows by name of the table below the line that begins with `title`. Each row has its cells by column. */
function table(text, title) {
  const lines = text.slice(text.indexOf(title)).split('\n')
  const begin = lines.findIndex((line) => line.startsWith('|'))
  const columns = cells(lines[begin])
  const rows = new Map()
  for (const line of lines.slice(begin + 2)) {
    if (!line.startsWith('|')) break
    const [name, ...values] = cells(line)
    rows.set(name, new Map(values.map((value, index) => [columns[index + 1], value])))
  }
  return rows
}

const read = (name) => readFileSync(new URL(`./results/${name}.md`, import.meta.url), 'utf8')
const titles = { rivals: '**defaults**', node: '**table**' }
/** Of each file the table of times and that of ratios. */
const tables = Object.fromEntries(
  Object.entries(titles).map(([name, title]) => {
    const text = read(name)
    return [name, { micros: table(text, `${title}: µs`), ratios: table(text, `${title}: times as fast`) }]
  })
)

/** A time with three digits. */
const micros = (cell) =>
  cell === undefined || cell === '–' ? '–' : String(Number(Number.parseFloat(cell).toPrecision(3)))

const found = ([shown, file, name]) => {
  const row = tables[file].micros.get(name)
  if (row === undefined) throw new Error(`bench/results/${file}.md has no row "${name}"`)
  return [shown, row, tables[file].ratios.get(name)]
}

console.log(`| µs per operation | ${ENGINES.join(' | ')} |`)
console.log(`|---|${ENGINES.map(() => '---:').join('|')}|`)
for (const [shown, row] of IN_TABLE.map(found)) {
  console.log(`| ${shown} | ${ENGINES.map((column) => micros(row.get(column))).join(' | ')} |`)
}

const [picture] = process.argv.slice(2)
if (picture !== undefined) {
  const values = IN_PICTURE.map(found).flatMap(([shown, , ratios]) =>
    [...ENGINES, 'classic-level'].flatMap((target) => {
      const ratio = ratios.get(target)
      return ratio === undefined || ratio === '–'
        ? []
        : [{ line: shown.replaceAll('`', ''), target, ratio: Number(ratio) }]
    })
  )
  const heading = {
    text: 'Times as fast as LevelDB',
    subtitle:
      'In Node: as classic-level, which is LevelDB in Node. Each engine as its documentation recommends'
  }
  writeFileSync(picture, (await draw(ratioDots(heading, values))).svg)
}

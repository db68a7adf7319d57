// Writes the parts of the code and the documents that follow from the description of the options, crates/engine/options.json:
//
//   node scripts/options.mjs
//
// A part stands between a line with `options.json: NAME` and one with `options.json: end`. How to add an option is said in
// docs/decisions/0034-options.md; tests/house/options.test.mjs checks what is not written from here.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../', import.meta.url)
export const DESCRIPTION = 'crates/engine/options.json'

/** Where an option can be. A description says for each how the option is named there, or why it is not there. */
export const SURFACES = ['rust', 'node', 'c', 'ruby', 'cli']

/** The text of a file of the repository. */
export const read = (file) => readFileSync(new URL(file, ROOT), 'utf8')

/** The description: all options. */
export const options = JSON.parse(read(DESCRIPTION)).options

/** Those that a surface has. */
export const on = (surface) => options.filter((option) => typeof option[surface] === 'object')

/** Those of a surface that are flags or numbers and are passed on as they are: their code is written from here. */
export const plainOn = (surface) => on(surface).filter((option) => !option[surface].byHand)

/** The default of an option on a surface: its own, or else the library's below it. */
export function defaultOn(surface, option) {
  const below = { node: ['node', 'rust'], c: ['c', 'rust'], ruby: ['ruby', 'c', 'rust'] }[surface]
  return below.map((name) => option[name].default).find((value) => value !== undefined)
}

const SHIFTS = { KiB: 10, MiB: 20, GiB: 30 }

/** A size such as '16 MiB' as its count and unit; undefined for any other value. */
const sizeOf = (value) => /^(\d+) ([KMG]iB)$/.exec(value)?.slice(1)

/** The number that a value of the description stands for. */
export function numberOf(value) {
  const [count, unit] = sizeOf(value) ?? [value, undefined]
  return Number(count) * 2 ** (SHIFTS[unit] ?? 0)
}

const inRust = (value) => {
  const [count, unit] = sizeOf(value) ?? []
  if (!unit) return String(value).replace(/\B(?=(\d{3})+$)/g, '_')
  return count === '1' ? unit.toUpperCase() : `${count} * ${unit.toUpperCase()}`
}

const inRuby = (value) => {
  const [count, unit] = sizeOf(value) ?? []
  return unit ? `${count} << ${SHIFTS[unit]}` : String(value)
}

const isFlag = ({ rust }) => rust.type === 'bool'

/** An option's line of documentation on a surface. */
const about = (surface, option) => option[surface].about ?? option.about

const TYPES = { uint8_t: 'u8', 'unsigned char': 'u8', size_t: 'usize', int: 'c_int' }

/** What a setter in C makes of its argument. LevelDB bounds numbers silently. */
function cConversion({ rust, c }) {
  if (rust.type === 'bool') return 'value != 0'
  const from = c.from ?? (c.argument === 'int' ? 0 : undefined)
  const bounds = [from, c.to].map((bound) => bound !== undefined && inRust(bound))
  let value = 'value'
  if (bounds[0] && bounds[1]) value += `.clamp(${bounds[0]}, ${bounds[1]})`
  else if (bounds[0]) value += `.max(${bounds[0]})`
  else if (bounds[1]) value += `.min(${bounds[1]})`
  return TYPES[c.argument] === rust.type ? value : `${value} as ${rust.type}`
}

/** What a value of LevelDB's default is in the engine's options. */
function cDefault({ rust, c }) {
  const value = inRust(c.default)
  return rust.type === 'u64' && sizeOf(c.default) ? `${value} as u64` : value
}

const RUBY_TYPES = { uint8_t: 'FLAG', 'unsigned char': 'FLAG', size_t: 'SIZE', int: 'INT' }

/** Plain options of Ruby whose functions in C are LevelDB's, or Terrace's alone. */
const rubyOf = (library) => plainOn('ruby').filter(({ c }) => c.function?.startsWith(`${library}_`))

const rubyValues = (library) =>
  commaSeparated(
    rubyOf(library).map((option) => {
      const kind = isFlag(option) ? ':switch' : ':integer'
      return `${option.ruby.name}: [${kind}, ${inRuby(defaultOn('ruby', option))}]`
    })
  )

const rubyFunctions = (library) =>
  commaSeparated(
    rubyOf(library).map(({ c }) => `${c.function}: [NOTHING, [OBJECT, ${RUBY_TYPES[c.argument]}]]`)
  )

const commaSeparated = (lines) => lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line))

/** A table of Markdown, with blank lines around it, which its markers need. */
const table = (head, rows) => [
  '',
  ...[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`),
  ''
]

const code = (text) => `\`${text}\``

/** A default as documents show it. A preset may have another: embedded / server. */
function shownDefault(surface, option) {
  if (option[surface].shown) return option[surface].shown
  const value = defaultOn(surface, option)
  const server = surface === 'node' ? option.rust.server : undefined
  if (server !== undefined) return `${value} / ${server}`
  return sizeOf(value) || typeof value === 'number' || value === 'binary' ? String(value) : code(value)
}

const optionsTable = (surface, note) =>
  table(
    ['Option', 'Default', 'Meaning'],
    on(surface).map((option) => [
      code(option[surface].name),
      shownDefault(surface, option),
      about(surface, option) + note(option)
    ])
  )

const isTerraceOnly = ({ c }) => c.function?.startsWith('terrace_')
const rubyNote = (option) => (isTerraceOnly(option) ? ' (Terrace only)' : '')

/** The names of the options that are on more than one surface. */
function names() {
  const flagsOf = (cli) =>
    Object.entries(cli)
      .map((parts) => code(parts.join(' ')))
      .join(', ')
  const rows = options
    .filter((option) => SURFACES.filter((surface) => typeof option[surface] === 'object').length > 1)
    .map(({ rust, node, c, ruby, cli, unit }) => [
      ...[node.name, rust.field, c.function, ruby.name].map((name) => (name ? code(name) : '–')),
      typeof cli === 'object' ? flagsOf(cli) : '–',
      unit ?? ''
    ])
  return table(['Node', 'Rust', 'C', 'Ruby', 'program', 'unit'], rows)
}

/** Each part that is written from the description: its file, its name there, and its lines without indentation. */
const PARTS = [
  [
    'crates/node/src/options.rs',
    'plain values',
    () =>
      plainOn('node').map(
        (option) => `${isFlag(option) ? 'flag' : 'number'}(c"${option.node.name}") => ${option.rust.field};`
      )
  ],
  [
    'packages/terrace/src/options.ts',
    'plain values',
    () =>
      commaSeparated(
        plainOn('node').map((option) => `${option.node.name}: ${isFlag(option) ? 'flag' : 'size'}`)
      )
  ],
  ['packages/terrace/README.md', 'table', () => optionsTable('node', () => '')],
  [
    'crates/capi/src/options.rs',
    'defaults',
    () =>
      on('c')
        .filter(({ c, rust }) => rust.field && c.default !== undefined)
        .map((option) => `${option.rust.field}: ${cDefault(option)},`)
  ],
  [
    'crates/capi/src/options.rs',
    'setters',
    () =>
      plainOn('c').map(
        (option) =>
          `${option.c.function}(value: ${TYPES[option.c.argument]}) => ${option.rust.field} = ${cConversion(option)};`
      )
  ],
  ['ruby/lib/leveldb/options.rb', 'plain values', () => rubyValues('leveldb')],
  ['ruby/lib/leveldb/options.rb', 'plain values of Terrace alone', () => rubyValues('terrace')],
  [
    'ruby/lib/leveldb/options.rb',
    'documentation',
    // rdoc leaves out what stands between these two, and so the markers.
    () => [
      '#++',
      ...on('ruby').map((option) => `# ${option.ruby.name}:: ${about('ruby', option)}${rubyNote(option)}.`),
      '#--'
    ]
  ],
  ['ruby/lib/leveldb/native.rb', 'setters', () => rubyFunctions('leveldb')],
  ['ruby/lib/leveldb/native.rb', 'setters of Terrace alone', () => rubyFunctions('terrace')],
  ['ruby/README.md', 'table', () => optionsTable('ruby', rubyNote)],
  ['docs/tuning.md', 'names', names]
]

/** `text` with `lines` as the part `name`, indented as its first marker is. */
function withPart(file, text, name, lines) {
  const all = text.split('\n')
  const begin = all.findIndex((line) => line.includes(` options.json: ${name} (make options)`))
  const end = all.findIndex((line, index) => index > begin && line.includes(' options.json: end'))
  if (begin < 0 || end < 0) throw new Error(`${file} has no part 'options.json: ${name}' with an end`)
  const indentation = /^ */.exec(all[begin])[0]
  return [
    ...all.slice(0, begin + 1),
    ...lines.map((line) => (line ? indentation + line : line)),
    ...all.slice(end)
  ].join('\n')
}

/** Every file with such parts, as it is to be. */
export function written() {
  const files = new Map()
  for (const [file, name, lines] of PARTS) {
    files.set(file, withPart(file, files.get(file) ?? read(file), name, lines()))
  }
  return files
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of written()) {
    if (text === read(file)) continue
    writeFileSync(new URL(file, ROOT), text)
    console.log(`options: ${file} is written anew`)
  }
}

// Writes what follows from the description of the options, crates/engine/options.json, into code and documents: make options.
//
// Each part is in its file between a line with `options.json: NAME (make options)` and one with `options.json: end`.
// tests/rules/options.test.mjs compares what people write with the description. Decision 34 gives the reasons.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../', import.meta.url)
export const DESCRIPTION = 'crates/engine/options.json'

/**
 * The surfaces that an option can have. Each entry of the description names the option there, or gives the reason why it is
 * missing.
 */
export const SURFACES = ['rust', 'node', 'browser', 'c', 'ruby', 'cli']

/** The options of `Level` in a browser's build. */
export const BROWSER = 'packages/terrace/src/browser/level-options.ts'

const read = (file) => readFileSync(new URL(file, ROOT), 'utf8')

/** All options. */
export const options = JSON.parse(read(DESCRIPTION)).options

const isOn = (surface, option) => typeof option[surface] === 'object'

/** The options that a surface has. */
export const on = (surface) => options.filter((option) => isOn(surface, option))

/** Flags and numbers that a surface passes on unmodified, in code that is generated here. */
export const plainOn = (surface) => on(surface).filter((option) => !option[surface].byHand)

/** The default of an option on a surface: its own, or otherwise that of the library below it. */
export function defaultOn(surface, option) {
  const below = {
    node: ['node', 'rust'],
    browser: ['browser', 'rust'],
    c: ['c', 'rust'],
    ruby: ['ruby', 'c', 'rust']
  }[surface]
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

const isFlag = ({ rust }) => rust.type === 'bool'

/** Lines with commas between them. */
const listed = (lines) => lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line))

// Node

const readsInGlue = () =>
  plainOn('node').map(
    (option) => `${isFlag(option) ? 'flag' : 'number'}(c"${option.node.name}") => ${option.rust.field};`
  )

const checksInNode = () =>
  listed(plainOn('node').map((option) => `${option.node.name}: ${isFlag(option) ? 'flag' : 'size'}`))

// Browsers

/** The sizes that the browser's build takes, with their defaults and limits in bytes. */
const sizesInBrowser = () =>
  listed(
    plainOn('browser').map(({ browser }) => {
      const [value, limit] = [browser.default, browser.to].map((size) => {
        const [count, unit] = sizeOf(size)
        return `${count} << ${SHIFTS[unit]}`
      })
      return `${browser.name}: { default: ${value}, limit: ${limit} }`
    })
  )

// C

/** A number in Rust, where KIB, MIB and GIB are constants. */
function inRust(value) {
  const [count, unit] = sizeOf(value) ?? []
  if (!unit) return String(value).replace(/\B(?=(\d{3})+$)/g, '_')
  return count === '1' ? unit.toUpperCase() : `${count} * ${unit.toUpperCase()}`
}

/** The type of a setter's argument in Rust and in Ruby's Fiddle. */
function argumentOf({ c }) {
  const [rust, ruby] = {
    uint8_t: ['u8', 'FLAG'],
    'unsigned char': ['u8', 'FLAG'],
    size_t: ['usize', 'SIZE'],
    int: ['c_int', 'INT']
  }[c.argument]
  return { rust, ruby }
}

/** What a setter turns its argument into. */
function converted(option) {
  const { rust, c } = option
  if (isFlag(option)) return 'value != 0'
  const bounded = c.from === undefined ? 'value' : `value.clamp(${inRust(c.from)}, ${inRust(c.to)})`
  return argumentOf(option).rust === rust.type ? bounded : `${bounded} as ${rust.type}`
}

const settersInC = () =>
  plainOn('c').map((option) => {
    const { function: name } = option.c
    return `${name}(value: ${argumentOf(option).rust}) => ${option.rust.field} = ${converted(option)};`
  })

const defaultsInC = () =>
  on('c')
    .filter(({ c }) => c.default !== undefined)
    .map(({ rust, c }) => `${rust.field}: ${inRust(c.default)}${rust.type === 'u64' ? ' as u64' : ''},`)

// Ruby

/** Plain options whose functions in C are LevelDB's, or Terrace's alone. */
const plainInRuby = (library) => plainOn('ruby').filter(({ c }) => c.function?.startsWith(`${library}_`))

const valuesInRuby = (library) => () =>
  listed(
    plainInRuby(library).map((option) => {
      const value = defaultOn('ruby', option)
      const [count, unit] = sizeOf(value) ?? []
      return `${option.ruby.name}: [${isFlag(option) ? ':switch' : ':integer'}, ${unit ? `${count} << ${SHIFTS[unit]}` : value}]`
    })
  )

const functionsInRuby = (library) => () =>
  listed(
    plainInRuby(library).map(
      (option) => `${option.c.function}: [NOTHING, [OBJECT, ${argumentOf(option).ruby}]]`
    )
  )

/** rdoc hides what is between `--` and `++`, which keeps the markers out of its output. */
const documentationInRuby = () => [
  '#++',
  ...on('ruby').map((option) => `# ${option.ruby.name}:: ${about('ruby', option)}.`),
  '#--'
]

// Documents

/** An option's line of documentation on a surface. */
function about(surface, option) {
  const isTerraceOnly = surface === 'ruby' && option.c.function?.startsWith('terrace_')
  const limit = surface === 'browser' && option.browser.to ? `; ${option.browser.to} at most` : ''
  return (option[surface].about ?? option.about) + limit + (isTerraceOnly ? ' (Terrace only)' : '')
}

const code = (text) => `\`${text}\``

/** A table of Markdown, with the blank lines that its markers need. */
function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return ['', ...lines, '']
}

/** A default as documents show it: embedded / server, if the presets differ. */
function shownDefault(surface, option) {
  if (option[surface].shown) return option[surface].shown
  const value = defaultOn(surface, option)
  if (surface === 'node' && option.rust.server !== undefined) return `${value} / ${option.rust.server}`
  return typeof value === 'number' || sizeOf(value) ? String(value) : code(value)
}

const tableOf = (surface) => () =>
  table(
    ['Option', 'Default', 'Meaning'],
    on(surface).map((option) => [
      code(option[surface].name),
      shownDefault(surface, option),
      about(surface, option)
    ])
  )

/** The names of options that more than one surface has. */
function namesOnSurfaces() {
  const shared = options.filter((option) => SURFACES.filter((surface) => isOn(surface, option)).length > 1)
  const rows = shared.map((option) => {
    const { rust, node, browser, c, ruby, cli, unit } = option
    const flags = isOn('cli', option) ? Object.entries(cli).map((words) => words.join(' ')) : []
    const names = [[node.name], [browser.name], [rust.field], [c.function], [ruby.name], flags]
    return [
      ...names.map((each) => each.map((name) => (name ? code(name) : '–')).join(', ') || '–'),
      unit ?? ''
    ]
  })
  return table(['Node', 'browser', 'Rust', 'C', 'Ruby', 'program', 'unit'], rows)
}

/** What is written from the description: for each file, the names of its parts, and the functions that make their lines. */
const PARTS = {
  'crates/node/src/options.rs': { 'plain values': readsInGlue },
  'packages/terrace/src/options.ts': { 'plain values': checksInNode },
  [BROWSER]: { sizes: sizesInBrowser },
  'packages/terrace/README.md': { table: tableOf('node') },
  'docs/browser.md': { 'table of the browser': tableOf('browser') },
  'crates/capi/src/options.rs': { defaults: defaultsInC, setters: settersInC },
  'ruby/lib/leveldb/options.rb': {
    documentation: documentationInRuby,
    'plain values': valuesInRuby('leveldb'),
    'plain values of Terrace alone': valuesInRuby('terrace')
  },
  'ruby/lib/leveldb/native.rb': {
    setters: functionsInRuby('leveldb'),
    'setters of Terrace alone': functionsInRuby('terrace')
  },
  'ruby/README.md': { table: tableOf('ruby') },
  'docs/tuning.md': { names: namesOnSurfaces }
}

/** `text` with `lines` as its part `name`, indented as the marker before them. */
function withPart(text, name, lines) {
  const all = text.split('\n')
  const begin = all.findIndex((line) => line.includes(` options.json: ${name} (make options)`))
  const end = all.findIndex((line, index) => index > begin && line.includes(' options.json: end'))
  if (begin < 0 || end < 0) throw new Error(`there is no part 'options.json: ${name}' with an end`)
  const indentation = /^ */.exec(all[begin])[0]
  const indented = lines.map((line) => (line ? indentation + line : line))
  return [...all.slice(0, begin + 1), ...indented, ...all.slice(end)].join('\n')
}

/** Every file with such parts, as it should be. */
export const written = () =>
  Object.entries(PARTS).map(([file, parts]) => [
    file,
    Object.entries(parts).reduce((text, [name, lines]) => withPart(text, name, lines()), read(file))
  ])

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of written().filter(([file, text]) => text !== read(file))) {
    writeFileSync(new URL(file, ROOT), text)
    console.log(`options: wrote ${file}`)
  }
}

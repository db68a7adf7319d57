// The options of a database: crates/engine/options.json describes them, and the rest is compared with it here. The files that
// `make options` writes must be up to date; hand-written ones must have every option. A failure names what to add, and where.

import assert from 'node:assert/strict'
import test from 'node:test'
import {
  BROWSER,
  DESCRIPTION,
  defaultOn,
  numberOf,
  on,
  options,
  plainOn,
  SURFACES,
  written
} from '../../scripts/options.mjs'
import { files, text } from './tracked.mjs'

const ENGINE = 'crates/engine/src/options.rs'
const NODE = 'packages/terrace/src/options.ts'
const GLUE = 'crates/node/src/options.rs'
const MODULE = 'crates/wasm/src/database.rs'
const LEVELDB_HEADER = 'crates/capi/include/leveldb/c.h'
const TERRACE_HEADER = 'crates/capi/include/terrace.h'
const GUIDE = 'docs/c-library.md'
const BENCHMARK = 'crates/bench/src/terrace.rs'

const check = (name, missing) =>
  test(name, () => {
    const lines = [...missing()]
    assert.equal(lines.length, 0, `\n  ${lines.join('\n  ')}\n`)
  })

/** What an option is called in a message. */
const nameOf = ({ rust, node, browser, c, ruby }) =>
  rust.field ?? node.name ?? browser.name ?? c.function ?? ruby.name

/** The part of a source from `begin` to the next `end`. */
function part(source, begin, end) {
  const from = source.indexOf(begin)
  assert.ok(from >= 0, `'${begin}' is not found`)
  return source.slice(from, source.indexOf(end, from))
}

/** The comment that ends before `index`; `opening` begins one. */
const commentBefore = (source, index, opening) => source.slice(source.lastIndexOf(opening, index), index)

/** What an entry must have where the option is there. */
const NEEDED = {
  rust: ['field', 'type', 'default'],
  node: ['name'],
  browser: ['name'],
  c: ['function'],
  ruby: ['name'],
  cli: []
}
const WHOLE_NUMBERS = ['usize', 'u64']

check('the description says how each option is named on each surface, or why it is not there', function* () {
  for (const option of options) {
    const entries = SURFACES.map((surface) => [surface, option[surface]])
    for (const [surface, entry] of entries.filter(([, entry]) => typeof entry !== 'string')) {
      const lacking = entry
        ? NEEDED[surface].filter((key) => entry[key] === undefined)
        : ['a name or a reason']
      for (const key of lacking) yield `${DESCRIPTION}: ${nameOf(option)} lacks ${key} in "${surface}"`
    }
    if ([...WHOLE_NUMBERS, 'f64'].includes(option.rust.type) && !option.unit) {
      yield `${DESCRIPTION}: ${nameOf(option)} lacks "unit"`
    }
  }
})

check('only flags and whole numbers are passed on by written code', function* () {
  for (const surface of ['node', 'browser', 'c', 'ruby']) {
    for (const option of plainOn(surface)) {
      if (option.rust.type !== 'bool' && !WHOLE_NUMBERS.includes(option.rust.type)) {
        yield `${DESCRIPTION}: ${nameOf(option)} needs "byHand": true in "${surface}"`
      }
    }
  }
  for (const { c } of plainOn('c')) {
    if (c.argument === 'int' && c.from === undefined)
      yield `${DESCRIPTION}: ${c.function} lacks from and to: an int may be negative`
  }
  for (const { browser, rust } of plainOn('browser')) {
    const isBounded = WHOLE_NUMBERS.includes(rust.type) && browser.to !== undefined
    if (!isBounded) yield `${DESCRIPTION}: ${browser.name} needs "to" in "browser", or "byHand": true`
  }
  for (const { c, ruby } of plainOn('ruby')) {
    if (!new RegExp(`^(leveldb|terrace)_options_set_${ruby.name}$`).test(c.function)) {
      yield `${DESCRIPTION}: ${ruby.name} needs "byHand": true in "ruby", or a function in C of its name`
    }
  }
})

check('what follows from the description is written from it', function* () {
  for (const [file, expected] of written()) {
    if (text(file) !== expected) yield `${file} does not agree with ${DESCRIPTION}: run make options`
  }
})

/** A value of Rust as the description has it. */
function described(value) {
  const [, count = '1', unit] = /^(?:(\d+) \* )?([KMG])IB(?: as u64)?$/.exec(value) ?? []
  if (unit) return `${count} ${unit}iB`
  if (/^[\d_.]+$/.test(value)) return Number(value.replaceAll('_', ''))
  if (value === 'None') return null
  if (value === 'true' || value === 'false') return value === 'true'
  return /^\w+::(\w+)$/.exec(value)?.[1].toLowerCase() ?? value
}

/** The fields that a constructor of the engine's options sets, with their values. */
function preset(source, name) {
  const body = part(source, `pub fn ${name}() -> Self {`, '\n    }')
  const values = [...body.matchAll(/^ {12}(\w+): (.+),$/gm)]
  return new Map(values.map(([, field, value]) => [field, described(value)]))
}

/** Whether a comment of Rust says that `value` is the default. */
function statesDefault(comment, value) {
  const words = comment.replace(/`|\/\/\/|(?<=\d),(?=\d)/g, '').replace(/\s+/g, ' ')
  const shown = String(value ?? 'none').replaceAll('.', '\\.')
  return new RegExp(`\\bdefault[^.]* ${shown}\\b`, 'i').test(words)
}

check('the options of the engine are described, with their types and defaults', function* () {
  const source = text(ENGINE)
  const struct = part(source, 'pub struct Options {', '\n}')
  const fields = [...struct.matchAll(/((?: {4}\/\/\/.*\n)+) {4}pub (\w+): (.+),$/gm)]
  const presets = { default: preset(source, 'embedded'), server: preset(source, 'server') }
  assert.ok(fields.length > 20)
  for (const [, comment, field, type] of fields) {
    const rust = on('rust').find(({ rust }) => rust.field === field)?.rust
    if (!rust) {
      yield `${DESCRIPTION}: add an option with "rust": { "field": "${field}", "type": "${type}", … }`
      continue
    }
    if (rust.type !== type) yield `${DESCRIPTION}: the type of ${field} in ${ENGINE} is ${type}`
    for (const [name, values] of Object.entries(presets)) {
      const value = values.get(field)
      if (value !== rust[name]) yield `${DESCRIPTION}: "${name}" of ${field} in ${ENGINE} is ${value}`
    }
    if (field !== 'env' && !statesDefault(comment, rust.default)) {
      yield `${ENGINE}: add to the documentation of ${field}: Default ${rust.default}.`
    }
  }
  for (const { rust } of on('rust')) {
    if (!fields.some(([, , field]) => field === rust.field)) {
      yield `${ENGINE}: add to Options: pub ${rust.field}: ${rust.type}`
    }
  }
})

/** Sizes in TypeScript's documentation are products, such as 16 * 1024 * 1024. */
const product = (factors) => factors.split(' * ').reduce((result, factor) => result * Number(factor), 1)

/** The defaults that `@defaultValue` is to have: that of the preset 'embedded', and of 'server' if it differs. */
function defaultsOfNode(option) {
  const values = [defaultOn('node', option), option.rust.server].filter((value) => value !== undefined)
  return values.map((value) => `\`${/^\d+ \w+$/.test(value) ? numberOf(value) : value}\``).join(' / ')
}

check(
  'the options of Node are documented in its interface, with their defaults, and read by the glue',
  function* () {
    const source = part(text(NODE), 'export interface OpenOptions', '\n}')
    const properties = [...source.matchAll(/^ {2}(\w+)\?: (.+) \| undefined$/gm)]
    assert.ok(properties.length > 10)
    for (const [, name] of properties) {
      if (!on('node').some(({ node }) => node.name === name))
        yield `${DESCRIPTION}: ${name} of ${NODE} is missing`
    }
    for (const option of on('node')) {
      const { node, rust } = option
      if (!text(GLUE).includes(`c"${node.name}"`)) yield `${GLUE}: ${node.name} is not read`
      // abstract-level declares these two.
      if (['createIfMissing', 'errorIfExists'].includes(node.name)) continue
      const property = properties.find(([, name]) => name === node.name)
      const type = rust.type === 'bool' ? 'boolean' : 'number'
      const defaults = defaultsOfNode(option)
      if (!property) {
        const whole = node.byHand ? node.name : `${node.name}?: ${type} | undefined`
        yield `${NODE}: add to OpenOptions, with a comment and @defaultValue ${defaults}: ${whole}`
        continue
      }
      if (!node.byHand && property[2] !== type) yield `${NODE}: the type of ${node.name} is to be ${type}`
      const stated = /@defaultValue (.+)/.exec(commentBefore(source, property.index, '/**'))?.[1] ?? ''
      if (stated.replace(/(?<=`)[\d* ]+(?=`)/g, product) !== defaults) {
        yield `${NODE}: add to the comment on ${node.name}: @defaultValue ${defaults}`
      }
    }
  }
)

/** The options that an interface of TypeScript declares, with the comment before each. */
function declaredIn(file, name) {
  const source = part(text(file), `export interface ${name} `, '\n}')
  return [...source.matchAll(/^ {2}(\w+)\?: (.+) \| undefined$/gm)].map(({ 1: name, 2: type, index }) => ({
    name,
    type,
    comment: commentBefore(source, index, '/**')
  }))
}

check('the options of the browser are documented in its interfaces, with their defaults', function* () {
  const declared = [...declaredIn(BROWSER, 'OpenOptions'), ...declaredIn(BROWSER, 'PlaceOptions')]
  assert.ok(declared.length > 4)
  for (const { name } of declared) {
    if (!on('browser').some(({ browser }) => browser.name === name))
      yield `${DESCRIPTION}: ${name} of ${BROWSER} is missing`
  }
  for (const option of on('browser')) {
    const { name, byHand, shown } = option.browser
    // abstract-level declares these two.
    if (['createIfMissing', 'errorIfExists'].includes(name)) continue
    const property = declared.find((each) => each.name === name)
    const value = defaultOn('browser', option)
    const defaults = shown ?? `\`${byHand ? value : numberOf(value)}\``
    if (!property) {
      yield `${BROWSER}: add to an interface, with a comment and @defaultValue ${defaults}: ${name}`
      continue
    }
    if (!byHand && property.type !== 'number') yield `${BROWSER}: the type of ${name} is to be number`
    const stated = /@defaultValue (.+)/.exec(property.comment)?.[1] ?? ''
    const shows = byHand ? stated.replace(/\.$/, '') : stated.replace(/(?<=`)[\d* ]+(?=`)/g, product)
    if (shows !== defaults) yield `${BROWSER}: add to the comment on ${name}: @defaultValue ${defaults}`
  }
})

check('the engine of the browser gets the options that it shares, and no other from the page', function* () {
  const source = part(text(MODULE), 'let options = Options {', '};')
  const given = [...source.matchAll(/^ +(\w+): opening\.(\w+),$/gm)].map(([, field]) => field)
  const described = on('browser').map(({ rust }) => rust.field)
  for (const field of described.filter((field) => field && !given.includes(field)))
    yield `${MODULE}: set ${field} of what opens the database`
  for (const field of given.filter((field) => !described.includes(field)))
    yield `${DESCRIPTION}: ${field} lacks a name in "browser": ${MODULE} takes it from the page`
})

/** The functions of a header that set options. */
function setters(header) {
  const source = text(header)
  const pattern = /void (\w+_options_set_\w+)\(leveldb_options_t\*(?: options)?, (.+?)(?: \w+)?\);/g
  return [...source.matchAll(pattern)].map(({ 0: declaration, 1: name, 2: argument, index }) => {
    return { declaration, name, argument, comment: commentBefore(source, index, '/*') }
  })
}

check(
  'the options of C are declared with their default and bounds, called by a test, and in the guide',
  function* () {
    const declared = { leveldb: setters(LEVELDB_HEADER), terrace: setters(TERRACE_HEADER) }
    assert.ok(declared.leveldb.length > 10 && declared.terrace.length > 0)
    for (const { name } of [...declared.leveldb, ...declared.terrace]) {
      if (!on('c').some(({ c }) => c.function === name)) yield `${DESCRIPTION}: ${name} is missing`
    }
    const programs = files.filter((file) => /^crates\/capi\/tests\/c\/.*\.c$/.test(file)).map(text)
    for (const option of on('c').filter(({ c }) => c.argument)) {
      const { c } = option
      const [library] = c.function.split('_')
      const header = { leveldb: LEVELDB_HEADER, terrace: TERRACE_HEADER }[library]
      const facts = c.byHand ? [] : [`Default: ${defaultOn('c', option)}.`]
      if (c.from !== undefined) facts.push(`From ${c.from} to ${c.to}.`)
      const setter = declared[library].find(({ name }) => name === c.function)
      if (setter?.argument !== c.argument) {
        yield `${header}: add: /* ${option.about}. ${facts.join(' ')} */ void ${c.function}(leveldb_options_t* options, ${c.argument} value);`
      }
      for (const fact of facts.filter(
        (fact) => setter && !setter.comment.replaceAll(',', '').includes(fact)
      )) {
        yield `${header}: add to the comment on ${c.function}: ${fact}`
      }
      if (!programs.some((program) => program.includes(`${c.function}(`))) {
        yield `crates/capi/tests/c: no program calls ${c.function}`
      }
      if (library === 'terrace' && !text(GUIDE).includes(c.function)) yield `${GUIDE}: name ${c.function}`
    }
  }
)

check(
  'the flags of the program are in its manual, and those of the benchmark set their options',
  function* () {
    const benchmark = part(text(BENCHMARK), 'pub fn with_options', '\n    }')
    for (const { cli, rust } of on('cli')) {
      for (const [command, flag] of Object.entries(cli)) {
        const page = `docs/man/terrace-${command}.1`
        const source = command === 'bench' ? 'crates/bench/src/settings.rs' : 'crates/cli/src/database.rs'
        if (!text(page).includes(`\\fB${flag.replaceAll('-', '\\-')}\\fR`)) {
          yield `${source}: add ${flag}, and run make man, which adds it to ${page}`
        }
      }
      if (cli.bench && !benchmark.includes(`options.${rust.field}`)) {
        yield `${BENCHMARK}: set options.${rust.field} by ${cli.bench}`
      }
    }
    for (const [, field] of benchmark.matchAll(/options\.(\w+)/g)) {
      const isDescribed = on('cli').some(({ cli, rust }) => cli.bench && rust.field === field)
      if (!isDescribed) yield `${DESCRIPTION}: add "bench" to "cli" of ${field}: ${BENCHMARK} sets it`
    }
  }
)

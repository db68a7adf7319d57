// Which Rust module uses which, as far as names tell: `use`, paths that begin at `crate`, `self`, `super`, a submodule or an imported
// module, and calls of methods that a file adds to another file's type. What only tests compile is left out, and what is exported again
// counts as used where it is defined.

import path from 'node:path'
import { endOfBracket, withoutLiterals, withoutTests } from './rust-text.mjs'

const WORD = /(?:r#)?[A-Za-z_]\w*/

/** The paths of a `use`, each with the name that it gets: `a::{self, b as c, d::*}` has `a`, `a::b` as `c`, and `a::d` as `*`. */
export function pathsOfUse(tree, prefix = []) {
  const text = tree.trim()
  const open = text.indexOf('{')
  if (open >= 0) {
    const head = wordsOf(text.slice(0, open))
    const inner = text.slice(open + 1, endOfBracket(text, open) - 1)
    return topLevelParts(inner).flatMap((part) => pathsOfUse(part, [...prefix, ...head]))
  }
  const [names, alias] = text.split(/\bas\b/)
  const words = [...prefix, ...wordsOf(names)]
  if (words.at(-1) === 'self' && words.length > 1) words.pop()
  if (/\*\s*$/.test(names)) return [{ words, name: '*' }]
  return [{ words, name: alias?.trim() ?? words.at(-1) }]
}

const wordsOf = (text) => text.match(new RegExp(WORD, 'g')) ?? []

function topLevelParts(text) {
  const parts = ['']
  for (let at = 0; at < text.length; at += 1) {
    const end = text[at] === '{' ? endOfBracket(text, at) : at + 1
    if (text[at] === ',') parts.push('')
    else parts[parts.length - 1] += text.slice(at, end)
    at = end - 1
  }
  return parts.filter((part) => part.trim() !== '')
}

const USE = /(?<![\w$])(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]*);/g
const MODULE = new RegExp(`(?<!\\w)mod\\s+(${WORD.source})\\s*([;{])`, 'g')
const ITEM =
  /(?<!\w)(?:fn|struct|enum|union|trait|type|static|const|macro_rules!)\s+(?:mut\s+)?([A-Za-z_]\w*)/g

/** A module with its text, in its own file or in braces within another's. */
function readModule(code, file, words, modules) {
  const module = { file, words, submodules: new Set(), uses: [], items: new Set(), code: '' }
  modules.set(words.join('::'), module)
  let rest = code
  for (;;) {
    MODULE.lastIndex = 0
    const inline = [...rest.matchAll(MODULE)].find((match) => match[2] === '{')
    if (inline === undefined) break
    const open = inline.index + inline[0].length - 1
    const end = endOfBracket(rest, open)
    module.submodules.add(inline[1])
    readModule(rest.slice(open + 1, end - 1), file, [...words, inline[1]], modules)
    rest = `${rest.slice(0, inline.index)}${rest.slice(end)}`
  }
  for (const match of rest.matchAll(MODULE)) module.submodules.add(match[1])
  for (const match of rest.matchAll(USE)) {
    for (const found of pathsOfUse(match[2])) module.uses.push({ ...found, isPublic: match[1] !== undefined })
  }
  for (const match of rest.matchAll(ITEM)) module.items.add(match[1])
  module.code = rest.replace(USE, ' ')
}

/** The modules of a crate, found by following `mod` from the file `start`. */
function readCrate(start, read) {
  const modules = new Map()

  function visit(file, words) {
    const code = withoutTests(withoutLiterals(read(file)))
    readModule(code, file, words, modules)
    const isRoot = words.length === 0 || path.posix.basename(file) === 'mod.rs'
    const directory = isRoot ? path.posix.dirname(file) : file.replace(/\.rs$/, '')
    const own = [...modules.values()].filter((module) => module.file === file)
    for (const module of own) {
      const below = path.posix.join(directory, ...module.words.slice(words.length))
      for (const name of module.submodules) {
        const inner = [...module.words, name]
        if (modules.has(inner.join('::'))) continue
        const candidates = [`${name}.rs`, `${name}/mod.rs`].map((file) => path.posix.join(below, file))
        const found = candidates.find((candidate) => read(candidate) !== undefined)
        if (found === undefined) throw new Error(`${file}: no file for \`mod ${name}\``)
        visit(found, inner)
      }
    }
  }

  visit(start, [])
  return modules
}

/** Leads paths to the module that defines what they name. */
function resolver(modules) {
  const at = (words) => modules.get(words.join('::'))

  /** The words of the module where `words`, seen from `from`, begin; undefined for what is of another crate. */
  function begin(words, from) {
    let [base, rest] = [from.words, words]
    if (rest[0] === 'crate') return [[], rest.slice(1)]
    let isLocal = false
    while (rest[0] === 'self' || rest[0] === 'super') {
      if (rest[0] === 'super') base = base.slice(0, -1)
      rest = rest.slice(1)
      isLocal = true
    }
    return isLocal || from.submodules.has(rest[0]) ? [base, rest] : undefined
  }

  /** The module that `words` lead to from module `base`: the one that defines the item, or that is named itself. */
  function follow(base, words, seen = new Set()) {
    const module = at(base)
    if (module === undefined || words.length === 0) return module
    const key = `${base.join('::')} ${words.join('::')}`
    if (seen.has(key)) return undefined
    seen.add(key)
    const [name, ...rest] = words
    if (module.submodules.has(name) && at([...base, name])) return follow([...base, name], rest, seen)
    for (const use of module.uses.filter((use) => use.name === name)) {
      const start = begin(use.words, module)
      if (start !== undefined) return follow(start[0], [...start[1], ...rest], seen)
    }
    if (module.items.has(name)) return module
    for (const use of module.uses.filter((use) => use.name === '*')) {
      const start = begin(use.words, module)
      const target = start && follow(start[0], [...start[1], name], seen)
      if (target?.items.has(name) || target?.submodules.has(name)) return target
    }
    return module
  }

  return (words, from) => {
    const start = begin(words, from)
    return start && follow(start[0], start[1])
  }
}

const PATH = new RegExp(`(?<![\\w:.])\\$?(${WORD.source})((?:\\s*::\\s*${WORD.source})+)`, 'g')
const FUNCTION = /(?<!\w)fn\s+([a-z_]\w*)/g
const CALL = /(?:\.|::)\s*([a-z_]\w*)\s*(?:::\s*<[^;{}]*?>\s*)?\(/g
const IMPL = /(?<!\w)impl\b\s*(?:<[^{;]*?>\s*)?([A-Z]\w*)\s*(?:<[^{;]*>)?\s*(?:where\b[^{;]*)?\{/g

/** The methods that a file adds to a type of another file, each with the file. A name that several functions have is left out. */
function addedMethods(modules, resolve) {
  const [counts, added] = [new Map(), new Map()]
  for (const module of modules.values()) {
    for (const [, name] of module.code.matchAll(FUNCTION)) counts.set(name, (counts.get(name) ?? 0) + 1)
    for (const match of module.code.matchAll(IMPL)) {
      const use = module.uses.find((use) => use.name === match[1])
      const home = use && resolve(use.words, module)
      if (home === undefined || home.file === module.file) continue
      const open = match.index + match[0].length - 1
      const body = module.code.slice(open, endOfBracket(module.code, open))
      for (const [, name] of body.matchAll(FUNCTION)) added.set(name, module.file)
    }
  }
  return new Map([...added].filter(([name]) => counts.get(name) === 1))
}

/**
 * The files of the crate whose root is the file `start`, each with the files that it uses. `read` gives a file's text, or undefined.
 *
 * Not seen: calls of methods of a trait, and of a method that a file adds to another file's type under a name that is not the only one.
 */
export function filesUsedByFiles(start, read) {
  const modules = readCrate(start, read)
  const resolve = resolver(modules)
  const methods = addedMethods(modules, resolve)
  const graph = new Map([...modules.values()].map((module) => [module.file, new Set()]))

  for (const module of modules.values()) {
    const add = (target) => {
      if (target !== undefined && target.file !== module.file) graph.get(module.file).add(target.file)
    }
    for (const [, name] of module.code.matchAll(CALL)) if (methods.has(name)) add({ file: methods.get(name) })
    const importedModules = new Map()
    for (const { words, name } of module.uses) {
      const target = resolve(words, module)
      add(target)
      if (target?.words.at(-1) === words.at(-1)) importedModules.set(name, words)
    }
    for (const [, first, rest] of module.code.matchAll(PATH)) {
      add(resolve([...(importedModules.get(first) ?? [first]), ...wordsOf(rest)], module))
    }
  }
  return new Map([...graph].sort().map(([file, targets]) => [file, [...targets].sort()]))
}

/** Whether the file `part` is below the module whose file is `module`. */
export function isPartOf(part, module) {
  const isRoot = /(^|\/)(mod|lib|main)\.rs$/.test(module)
  const below = isRoot ? module.replace(/[^/]*$/, '') : module.replace(/\.rs$/, '/')
  return part !== module && part.startsWith(below)
}

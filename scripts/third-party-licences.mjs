// Writes the licences of the crates that are linked into what we ship as a binary, beside it.
//
//   node scripts/third-party-licences.mjs            writes the files
//   node scripts/third-party-licences.mjs --check    fails if one is not what would be written

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Each file, and the crates of this repository that the binaries beside it are built from. */
const FILES = {
  'packages/terrace/THIRD-PARTY-LICENSES.txt': ['terrace-node', 'terrace-wasm', 'terrace-wasm-memory'],
  'crates/cli/THIRD-PARTY-LICENSES.txt': ['terrace-cli'],
  'crates/capi/THIRD-PARTY-LICENSES.txt': ['terrace-capi']
}

/** One target of each kind of platform that binaries are built for. */
const TARGETS = [
  'x86_64-unknown-linux-gnu',
  'aarch64-unknown-linux-musl',
  'aarch64-apple-darwin',
  'x86_64-pc-windows-gnu',
  'wasm32-unknown-unknown'
]

/** Where the licences are of crates that do not have theirs, or not all of them, in the place where others have them. */
const PLACES = {
  'crc-catalog': ['LICENSES/MIT.txt'],
  epaint_default_fonts: ['fonts/*.txt'],
  // The bundled C library has its own licence.
  'zstd-sys': ['LICENSE*', 'zstd/LICENSE']
}

/** Crates without a licence in them, and another of the same author that has it. */
const SAME_AS = { 'clipboard-win': 'error-code' }

const mit = readFileSync(join(root, 'LICENSE'), 'utf8').trim()

const HEAD = `What is linked into the binaries of Terrace, on one platform or another, under the licences below. Terrace itself is under the
licence in the file LICENSE. Where authors offer several licences, the one below is the one that was chosen.

The standard library of Rust is linked in as well: copyright (c) The Rust Project Contributors, under the licence MIT, as below.
`

/** What each file of licences must contain, by its path. */
export function licenceFiles() {
  const platforms = TARGETS.flatMap((target) => ['--filter-platform', target])
  const metadata = JSON.parse(
    execFileSync('cargo', ['metadata', '--format-version', '1', '--locked', ...platforms], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28
    })
  )
  return Object.fromEntries(
    Object.entries(FILES).map(([file, crates]) => [file, textOf(linkedInto(crates, metadata))])
  )
}

/** The packages that are linked into these crates: neither those of this repository, nor what only builds or tests them. */
function linkedInto(crates, { packages, resolve }) {
  const byId = new Map(packages.map((each) => [each.id, each]))
  const nodes = new Map(resolve.nodes.map((each) => [each.id, each]))
  const found = new Set()
  const visit = (id) => {
    if (found.has(id) || isProcMacro(byId.get(id))) return
    found.add(id)
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      if (kinds.some(({ kind }) => kind === null)) visit(pkg)
    }
  }
  for (const name of crates) visit(packages.find((each) => each.name === name && each.source === null).id)
  return [...found]
    .map((id) => byId.get(id))
    .filter(({ source }) => source !== null)
    .sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** A macro of code: it runs in the compiler. */
function isProcMacro({ targets }) {
  return targets.some(({ kind }) => kind.includes('proc-macro'))
}

/** The file: each text once, under the names of the packages that have it. */
function textOf(packages) {
  const names = new Map()
  for (const each of packages) {
    for (const text of textsOf(packages.find(({ name }) => name === SAME_AS[each.name]) ?? each)) {
      names.set(text, [...(names.get(text) ?? []), `${each.name} ${each.version} (${each.license})`])
    }
  }
  const parts = [...names].map(([text, of]) => `${of.join('\n')}\n\n${text}\n`)
  return [HEAD, ...parts].join(`\n${'-'.repeat(80)}\n\n`)
}

/** The texts of the licence that we choose. */
function textsOf({ name, authors, license, manifest_path: manifest }) {
  const files = licencesIn(dirname(manifest), PLACES[name])
  if (files.length === 0 && license === 'MIT')
    return [mit.replace(/^Copyright.*$/m, `Copyright (c) ${authors.join(', ')}`)]
  if (files.length === 0) throw new Error(`${name} has no file with its licence: say in PLACES where it is`)
  const texts = files.map((file) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim())
  return [...new Set(texts)]
}

function licencesIn(directory, places) {
  if (places !== undefined) return places.flatMap((place) => matching(join(directory, ...place.split('/'))))
  const all = matching(join(directory, '*')).filter((file) =>
    /^(licen[cs]e|copying|copyright|notice)/i.test(basename(file))
  )
  const chosen = all.filter((file) => /mit/i.test(basename(file)))
  return chosen.length > 0 ? chosen : all
}

/** The files whose paths match one with stars in its parts. */
function matching(pattern) {
  const parts = pattern.split(sep)
  const star = parts.findIndex((part) => part.includes('*'))
  if (star === -1) {
    if (!existsSync(pattern)) throw new Error(`there is no ${pattern}`)
    return [pattern]
  }
  const [before, after] = parts[star].split('*')
  const directory = parts.slice(0, star).join(sep)
  return readdirSync(directory)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .sort()
    .flatMap((name) => matching([directory, name, ...parts.slice(star + 1)].join(sep)))
}

function main([option]) {
  let isStale = false
  for (const [file, text] of Object.entries(licenceFiles())) {
    if (option !== '--check') writeFileSync(join(root, file), text)
    else if (!existsSync(join(root, file)) || readFileSync(join(root, file), 'utf8') !== text) {
      console.error(`${file} is not up to date: run node scripts/third-party-licences.mjs`)
      isStale = true
    }
  }
  if (isStale) process.exitCode = 1
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  main(process.argv.slice(2))

// House rules about single files: their size, and what they may not contain.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { bytes, files, isBinary, matches, root, text, withExtension } from './tracked.mjs'

const MAX_LINES = 600
const MAX_SIZE_BYTES = 2 << 20

/** Files that may be longer than MAX_LINES, each with its reason. */
const LONG = {
  'package-lock.json': 'written by npm',
  'bench/node/package-lock.json': 'written by npm',
  'tests/downstream/package-lock.json': 'written by npm',
  'tests/downstream/leveldown/package-lock.json': 'written by npm',
  'tests/bundlers/package-lock.json': 'written by npm',
  'tests/browser/package-lock.json': 'written by npm',
  'tests/published/checkers/package-lock.json': 'written by npm',
  'tests/release/package-lock.json': 'written by npm',
  'tests/upgrading/package-lock.json': 'written by npm',
  'docs/site/package-lock.json': 'written by npm',
  'packages/terrace/THIRD-PARTY-LICENSES.txt': 'texts of others',
  'crates/cli/THIRD-PARTY-LICENSES.txt': 'texts of others',
  'crates/capi/THIRD-PARTY-LICENSES.txt': 'texts of others',
  'Cargo.lock': 'written by cargo',
  'fuzz/Cargo.lock': 'written by cargo',
  'bench/rivals/Cargo.lock': 'written by cargo',
  'tests/interop/drivers/rusty-leveldb/Cargo.lock': 'written by cargo'
}

const sources = withExtension('.rs', '.ts', '.js', '.mjs', '.cjs', '.py', '.go', '.sh')
const texts = files.filter((file) => !isBinary(file))
const rust = withExtension('.rs')

test('there are files to check', () => {
  assert.ok(rust.length > 0 && texts.includes('Cargo.toml'))
})

test(`no text file has more than ${MAX_LINES} lines`, () => {
  const long = texts
    .filter((file) => !(file in LONG) && !/^(testdata|bench\/results)\//.test(file))
    .map((file) => [file, text(file).split('\n').length])
    .filter(([, lines]) => lines > MAX_LINES)
  assert.deepEqual(long, [])
})

test('every exception to the limit still exists', () => {
  const gone = Object.keys(LONG).filter((name) => !existsSync(path.join(root, name)))
  assert.deepEqual(gone, [])
})

test(`no file has more than ${MAX_SIZE_BYTES} bytes`, () => {
  assert.deepEqual(
    files.filter((file) => bytes(file).length > MAX_SIZE_BYTES),
    []
  )
})

test('no marker of unfinished work', () => {
  // Written so that this line does not find itself.
  const marker = /\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/
  assert.deepEqual(
    texts.filter((file) => !(file in LONG)).flatMap((file) => matches(file, marker)),
    []
  )
})

test('no stub, no test that is skipped or runs alone', () => {
  const inRust = /\b(todo|unimplemented)!\s*\(|#\[ignore/
  const inJavaScript = /\b(it|test|describe|suite|t)\.(skip|only|todo)\b|\b(skip|only|todo): *(true|['"`])/
  const found = [
    ...rust.flatMap((file) => matches(file, inRust)),
    ...withExtension('.ts', '.js', '.mjs', '.cjs').flatMap((file) => matches(file, inJavaScript))
  ]
  assert.deepEqual(found, [])
})

test('no path of the machine that it was written on', () => {
  const machinePath = /(^|[^\w.])\/(work|root|farm|home\/\w+)\//
  assert.deepEqual(
    texts.flatMap((file) => matches(file, machinePath)),
    []
  )
})

test('no address of a package registry', () => {
  const registry =
    /registry\.(npmjs|yarnpkg)|proxy\.golang|(static|index)\.crates|cr[a]tes-io-proxy|files\.pythonhosted|deb\.debian/
  assert.deepEqual(
    texts.flatMap((file) => matches(file, registry)),
    []
  )
})

test('lock files of npm name no address', () => {
  const locks = files.filter((file) => path.basename(file) === 'package-lock.json')
  assert.ok(locks.includes('package-lock.json'))
  assert.deepEqual(
    locks.flatMap((file) => matches(file, /"resolved": *"(?!(packages|courses)\/|aegir")/)),
    []
  )
})

test('no package asks for any version of another', () => {
  const manifests = files.filter((file) => path.basename(file) === 'package.json')
  assert.ok(manifests.includes('packages/toolbox/package.json'))
  assert.deepEqual(
    manifests
      .flatMap((file) => matches(file, /": "(\*|x|latest|>=?.*)",?$/))
      .filter((line) => !/"node":/.test(line)),
    []
  )
})

test('sources end with one newline and have no trailing blanks or tabs for indentation', () => {
  const wrong = sources.filter((file) => !text(file).endsWith('\n') || text(file).endsWith('\n\n'))
  const blanks = sources.flatMap((file) => matches(file, /[ \t]$/))
  const tabs = sources.filter((file) => !file.endsWith('.go')).flatMap((file) => matches(file, /^ *\t/))
  assert.deepEqual([...wrong, ...blanks, ...tabs], [])
})

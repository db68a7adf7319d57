// House rules about how the parts depend on each other: the arrows of ARCHITECTURE.md.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import test from 'node:test'
import { files, matches, packageOf, root, text, withExtension } from './tracked.mjs'

const metadata = JSON.parse(
  execFileSync('cargo', ['metadata', '--no-deps', '--offline', '--format-version', '1'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20
  })
)
const crates = metadata.packages

/**
 * The crates of this workspace that each crate may depend on, including for its tests. A crate that is not listed may use the
 * engine.
 */
const ARROWS = {
  'terrace-format': [],
  'terrace-env': [],
  'terrace-memory': [],
  'terrace-node': ['terrace-engine', 'terrace-memory'],
  'terrace-engine': ['terrace-format', 'terrace-env'],
  'terrace-wasm-abi': [],
  'terrace-wasm-memory': ['terrace-format', 'terrace-memory', 'terrace-wasm-abi'],
  'terrace-wasm': ['terrace-engine', 'terrace-wasm-abi'],
  // The checksum and the compression are separate workloads, and an example compares both databases in memory.
  'terrace-bench': ['terrace-engine', 'terrace-format', 'terrace-memory'],
  'terrace-cli': ['terrace-engine', 'terrace-format', 'terrace-bench'],
  // It decodes intact files to know where each entry lies, and replays the fuzzers' seeds and findings in plain tests.
  'terrace-testkit': ['terrace-engine', 'terrace-format', 'terrace-fuzz']
}

/** A Rust source without its tests, which may do what other code may not. */
const withoutTests = (file) => text(file).split(/^#\[cfg\(test\)\]\nmod tests\b/m)[0]

const isTest = (file) =>
  /(^|\/)(tests|tests\.rs|models|benches|examples)(\/|$)/.test(file) || file.endsWith('_tests.rs')

const sourcesOf = (directory) =>
  withExtension('.rs').filter((file) => file.startsWith(`${directory}/`) && !isTest(file))

/** Uses of `pattern` in the sources of `directory`, without tests. */
function uses(directory, pattern) {
  return sourcesOf(directory).flatMap((file) =>
    withoutTests(file)
      .split('\n')
      .map((line, index) => `${file}:${index + 1}: ${line.trim()}`)
      .filter((line) => pattern.test(line) && !/: \/\//.test(line))
  )
}

test('crates depend only along the arrows', () => {
  const wrong = crates.flatMap((crate) => {
    const allowed = ARROWS[crate.name] ?? ['terrace-engine']
    return crate.dependencies
      .filter((dependency) => dependency.path && !allowed.includes(dependency.name))
      .map((dependency) => `${crate.name} → ${dependency.name}`)
  })
  assert.ok(crates.length >= 3)
  assert.deepEqual(wrong, [])
})

test('every crate follows the lints of the workspace', () => {
  // It is a separate workspace, so that nothing else builds the rivals.
  const apart = ['bench/rivals/Cargo.toml']
  const manifests = files.filter((file) => /^crates\/[^/]+\/Cargo\.toml$/.test(file) && !apart.includes(file))
  assert.equal(manifests.length, crates.length)
  assert.deepEqual(
    manifests.filter((file) => !/^\[lints\]\nworkspace = true$/m.test(text(file))),
    []
  )
})

test('the engine reaches files, threads and clocks only through Env', () => {
  assert.deepEqual(
    uses(
      'crates/engine/src',
      /\bstd::(fs|net|process)\b|\bthread::(spawn|sleep|Builder)\b|\b(Instant|SystemTime)::now\b/
    ),
    []
  )
})

test('the format does no input or output', () => {
  assert.deepEqual(uses('crates/format/src', /\bstd::(fs|net|process|thread|time|env|os)\b/), [])
})

test('the addon makes no buffer of memory that is not of V8, which Electron refuses', () => {
  assert.deepEqual(uses('crates/node/src', /\bnapi_create_external_(array)?buffer\b/), [])
})

test('packages reach Rust only through node or wasm', () => {
  const sources = withExtension('.ts', '.js', '.mjs', '.cjs', '.json').filter(
    (file) => packageOf(file) !== undefined
  )
  assert.deepEqual(
    sources.flatMap((file) => matches(file, /crates\/(?!node\b|wasm\b)/)),
    []
  )
})

test('packages import each other by name, not by path', () => {
  const sources = withExtension('.ts', '.js', '.mjs', '.cjs').filter(
    // A package's tests may use the demo and the data, and its benchmark what others use; its code, which is published, may not.
    (file) => packageOf(file) !== undefined && !/^\/test\//.test(file.slice(packageOf(file).length))
  )
  const wrong = sources.flatMap((file) => {
    const home = packageOf(file)
    const imports = [...text(file).matchAll(/(?:from|import|require)\s*\(?\s*['"](\.[^'"]*)['"]/g)].map(
      (match) => match[1]
    )
    return imports
      .filter((target) => !path.posix.join(path.posix.dirname(file), target).startsWith(`${home}/`))
      .map((target) => `${file}: ${target}`)
  })
  assert.deepEqual(wrong, [])
})

test('the encoding of keys needs nothing but the language', () => {
  const sources = withExtension('.ts').filter((file) => file.startsWith('packages/bytewise/src/'))
  assert.ok(sources.length > 0)
  assert.deepEqual(
    sources.flatMap((file) => matches(file, /(from|import|require)\s*\(?\s*['"](?!\.\/)/)),
    []
  )
  const { dependencies = {} } = JSON.parse(text('packages/bytewise/package.json'))
  assert.deepEqual(dependencies, {})
})

test('the class over a back-end knows none, and works in browsers: what it imports is abstract-level, and buffers', () => {
  const sources = withExtension('.ts').filter((file) => file.startsWith('packages/core/src/'))
  assert.ok(sources.length > 0)
  const others = /(?<!\.)\b(from|import|require)\s*\(?\s*['"](?!\.|abstract-level'|buffer')/
  assert.deepEqual(
    sources.flatMap((file) => matches(file, others)),
    []
  )
  // A browser has neither buffers nor Node's events, which abstract-level wants.
  assert.deepEqual(Object.keys(JSON.parse(text('packages/core/package.json')).dependencies), [
    'abstract-level',
    'buffer',
    'events'
  ])
})

test('the toolbox knows no database, only their API', () => {
  const sources = withExtension('.ts').filter((file) => file.startsWith('packages/toolbox/src/'))
  assert.ok(sources.length > 0)
  const others = /(?<!\.)\b(from|import)\s*\(?\s*'(?!\.|node:|buffer'|abstract-level'|terrace-bytewise')/
  assert.deepEqual(
    sources.flatMap((file) => matches(file, others)),
    []
  )
})

test('a back-end knows the common class and its own store, and no other package of ours', () => {
  const sources = withExtension('.ts').filter((file) => /^packages\/back-ends\/[^/]+\/src\//.test(file))
  assert.ok(sources.length > 0)
  assert.deepEqual(
    sources.flatMap((file) => matches(file, /(?<!\.)\b(from|import|require)\s*\(?\s*'terrace(?!-core')/)),
    []
  )
})

test('the program that copies knows the API alone, and loads back-ends only when it is asked to', () => {
  const sources = withExtension('.ts').filter((file) => file.startsWith('packages/copy/src/'))
  assert.ok(sources.length > 0)
  const others =
    /(?<![.'])\b(from|import|require)\s*\(?\s*'(?!\.|node:|abstract-level'|terrace-core'|terrace-toolbox\/)/
  assert.deepEqual(
    sources.flatMap((file) => matches(file, others)),
    []
  )
  assert.deepEqual(Object.keys(JSON.parse(text('packages/copy/package.json')).dependencies), [
    'abstract-level',
    'terrace-core',
    'terrace-toolbox'
  ])
})

test('the runner of workshops needs nothing but Node', () => {
  const sources = withExtension('.ts').filter((file) => file.startsWith('courses/runner/src/'))
  assert.ok(sources.length > 0)
  assert.deepEqual(
    sources
      // The template has the files of another package in it.
      .filter((file) => path.posix.basename(file) !== 'template.ts')
      .flatMap((file) => matches(file, /(?<![-.])\b(from|import|require)\s*\(?\s*'(?!\.|node:)/)),
    []
  )
  const { dependencies = {} } = JSON.parse(text('courses/runner/package.json'))
  assert.deepEqual(dependencies, {})
})

test('benchmarks use tests, tests use scripts, and scripts use packages: never the other way', () => {
  /** The higher may use the lower. The tests of a package are tests. */
  const layerOf = (file) => {
    const home = packageOf(file)
    if (home !== undefined) return file.startsWith(`${home}/test/`) ? 2 : 0
    return { bench: 3, tests: 2, scripts: 1 }[file.split('/', 1)[0]]
  }
  const imported = /\b(?:from|import|require)\s*\(?\s*'(\.[^']*)'/g
  const arrows = withExtension('.js', '.mjs', '.cjs', '.ts', '.mts')
    .filter((file) => layerOf(file) !== undefined)
    .flatMap((file) =>
      [...text(file).matchAll(imported)].map(([, target]) => [
        file,
        path.posix.join(path.posix.dirname(file), target)
      ])
    )
  assert.ok(arrows.some(([file, target]) => layerOf(file) === 3 && layerOf(target) === 2))
  assert.deepEqual(
    arrows
      .filter(([file, target]) => layerOf(target) > layerOf(file))
      .map(([file, target]) => `${file} → ${target}`),
    []
  )
})

test('every Rust source says what it is for', () => {
  const sources = withExtension('.rs').filter((file) => /^crates\/[^/]+\/src\//.test(file) && !isTest(file))
  assert.deepEqual(
    sources.filter((file) => !text(file).startsWith('//!')),
    []
  )
})

test('every Rust source is part of its crate', () => {
  const dead = withExtension('.rs')
    .filter((file) => /^crates\/[^/]+\/src\//.test(file))
    .filter((file) => {
      const directory = path.posix.dirname(file)
      const name = path.posix.basename(file, '.rs')
      if (/\/src\/(lib|main|bin\/[^/]+|bin\/[^/]+\/main)\.rs$/.test(file)) return false
      const module = name === 'mod' ? path.posix.basename(directory) : name
      const parent = name === 'mod' ? path.posix.dirname(directory) : directory
      const candidates = [`${parent}.rs`, ...['mod', 'lib', 'main'].map((stem) => `${parent}/${stem}.rs`)]
      return !candidates.some(
        (candidate) => files.includes(candidate) && new RegExp(`\\bmod ${module}\\b`).test(text(candidate))
      )
    })
  assert.deepEqual(dead, [])
})

test('what scripts/threads names for Miri are modules and tests of the engine', () => {
  const [, filters] = /MIRI_ENGINE='([^']+)'/.exec(text('scripts/threads'))
  const src = 'crates/engine/src'
  const tests = withExtension('.rs')
    .filter((file) => file.startsWith(src))
    .map(text)
    .join('\n')
  const exists = (filter) => {
    const parts = filter.split('::').filter((part) => part !== '')
    const isModule = [`${parts.join('/')}.rs`, `${parts.join('/')}/mod.rs`].some((file) =>
      files.includes(`${src}/${file}`)
    )
    return isModule || new RegExp(`#\\[test\\]\\s+(#\\[.*\\]\\s+)?fn ${parts.at(-1)}`).test(tests)
  }
  assert.deepEqual(
    filters.split(/\s+/).filter((filter) => !exists(filter)),
    []
  )
})

// The archives of the C library: a program in C finds it by pkg-config and by CMake, wherever it was unpacked, and runs.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PLATFORMS } from '../../../packages/terrace/scripts/platforms.mjs'
import { inspect } from '../../../scripts/prebuilds/inspect.mjs'
import { expectedOfLibrary } from '../../../scripts/prebuilds/library.mjs'
import { root } from '../../../scripts/prebuilds/paths.mjs'
import { compilerFor, reasonAgainst, run, runnerFor, temporaryDirectory, unpack } from './support.mjs'

/** The example of the documentation, and what it prints. */
const page = readFileSync(join(root, 'docs', 'c-library.md'), 'utf8')
const [example, output] = ['c', 'text'].map(
  (language) => page.split(`\`\`\`${language}\n`)[1].split('```')[0]
)

const isWindows = (name) => PLATFORMS[name].os === 'win32'

for (const name of Object.keys(PLATFORMS)) {
  test(`a program in C finds the library for ${name} by pkg-config`, {
    skip: reasonAgainst('libterrace', name)
  }, (t) => {
    const directory = temporaryDirectory(t)
    const library = unpackMoved(name, directory)
    for (const kind of ['shared', 'static']) {
      const program = compile(name, directory, kind, flagsOf(library, kind))
      expectLinked(name, program, kind)
      expectToRun(t, name, library, program, kind)
    }
  })
}

test('a program in C finds the library by CMake', {
  skip: reasonAgainst('libterrace', 'linux-x64-gnu')
}, (t) => {
  const directory = temporaryDirectory(t)
  const library = unpackMoved('linux-x64-gnu', directory)
  const build = buildByCmake(directory, library, '0.1')
  for (const kind of ['shared', 'static']) {
    expectLinked('linux-x64-gnu', join(build, kind), kind)
    expectToRun(t, 'linux-x64-gnu', library, join(build, kind), kind)
  }
})

test('CMake does not take a library that is older than what is asked for', {
  skip: reasonAgainst('libterrace', 'linux-x64-gnu')
}, (t) => {
  const directory = temporaryDirectory(t)
  const library = unpackMoved('linux-x64-gnu', directory)
  for (const version of ['0.999', '1.0']) {
    assert.throws(() => buildByCmake(directory, library, version), /compatible with requested version/)
  }
})

test('a program that is linked with LevelDB takes the library in its place', {
  skip:
    reasonAgainst('libterrace', 'linux-x64-gnu') ||
    (!existsSync('/usr/include/leveldb/c.h') && 'no libleveldb-dev')
}, (t) => {
  const directory = temporaryDirectory(t)
  const library = unpackMoved('linux-x64-gnu', directory)
  const program = join(directory, 'of-leveldb')
  writeFileSync(`${program}.c`, example)
  execFileSync('cc', [`${program}.c`, '-o', program, '-lleveldb'])
  const place = join(library, 'lib', 'terrace', 'leveldb')
  const loaded = execFileSync('ldd', [program], { env: { LD_LIBRARY_PATH: place }, encoding: 'utf8' })
  assert.match(loaded, /libleveldb\.so\.1d? => .*\/lib\/terrace\/leveldb\//)
  assert.equal(run('linux-x64-gnu', program, [], { cwd: directory, env: { LD_LIBRARY_PATH: place } }), output)
})

/** Unpacks the library, where a path has a space in it. */
function unpackMoved(name, directory) {
  const place = join(directory, 'some place')
  mkdirSync(place)
  return unpack('libterrace', name, place)
}

/** What pkg-config says to compile and link with, as words. */
function flagsOf(library, kind) {
  const args = ['--cflags', '--libs', ...(kind === 'static' ? ['--static'] : []), 'terrace']
  const env = { ...process.env, PKG_CONFIG_LIBDIR: join(library, 'lib', 'pkgconfig') }
  const text = execFileSync('pkg-config', args, { env, encoding: 'utf8' })
  const words = (text.match(/(\\.|[^\\\s])+/g) ?? []).map((word) => word.replace(/\\(.)/g, '$1'))
  // Linkers take the shared library where both are.
  const held = join(library, 'lib', 'libterrace.a')
  return kind === 'static' ? words.map((word) => (word === '-lterrace' ? held : word)) : words
}

function compile(name, directory, kind, flags) {
  const source = join(directory, 'example.c')
  const program = join(directory, isWindows(name) ? `${kind}.exe` : kind)
  writeFileSync(source, example)
  const [compiler, ...options] = compilerFor(name)
  // zig has the code that unwinds stacks in a separate library.
  const unwinding = options.length > 0 && kind === 'static' ? ['-lunwind'] : []
  execFileSync(compiler, [...options, source, '-o', program, ...flags, ...unwinding], { stdio: 'pipe' })
  return program
}

/** Asserts that a program needs the shared library if it was linked with that, by its name. */
function expectLinked(name, program, kind) {
  const { id } = expectedOfLibrary(PLATFORMS[name])
  assert.equal(inspect(program).libraries.includes(id), kind === 'shared', `${kind}: ${id}`)
}

/** Runs a program twice, the second time on the database of the first, as far as programs of the platform run here. */
function expectToRun(t, name, library, program, kind) {
  const needsMusl = PLATFORMS[name].libc === 'musl' && kind === 'shared'
  if (runnerFor(name) === undefined || needsMusl) return t.diagnostic(`not run: ${kind}, for ${name}`)
  const directory = join(program, '..', `databases of ${kind}`)
  mkdirSync(directory)
  if (isWindows(name)) copyFileSync(join(library, 'bin', 'terrace.dll'), join(program, '..', 'terrace.dll'))
  const env = { LD_LIBRARY_PATH: join(library, 'lib') }
  for (const time of ['first', 'second']) {
    assert.equal(run(name, program, [], { cwd: directory, env }), output, `${kind}, ${time}`)
  }
}

function buildByCmake(directory, library, version) {
  const [source, build] = ['source', 'build'].map((part) => join(directory, `${part} ${version}`))
  mkdirSync(source)
  writeFileSync(join(source, 'example.c'), example)
  writeFileSync(
    join(source, 'CMakeLists.txt'),
    `cmake_minimum_required(VERSION 3.15)
     project(example C)
     find_package(terrace ${version} REQUIRED)
     add_executable(shared example.c)
     target_link_libraries(shared PRIVATE terrace::terrace)
     add_executable(static example.c)
     target_link_libraries(static PRIVATE terrace::terrace_static)
    `
  )
  const options = { stdio: 'pipe', encoding: 'utf8' }
  execFileSync('cmake', ['-S', source, '-B', build, `-DCMAKE_PREFIX_PATH=${library}`], options)
  execFileSync('cmake', ['--build', build], options)
  return build
}

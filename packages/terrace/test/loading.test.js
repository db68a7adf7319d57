// What the error advises when the native addon cannot be loaded. The packages are installed as npm would publish them, in the short
// form without npm; the substitute for the platform's package is made here.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { isShort } from '../../../tests/support/form.mjs'
import { node, Projects, root } from '../../../tests/support/projects.mjs'
import { loadError } from '../dist/load-error.js'
import { BUILDS, buildsFor, glibcVersion } from '../dist/platform.js'
import { programFile } from '../dist/program-file.js'
import { platformName } from '../scripts/platform.mjs'

const projects = new Projects()
after(() => projects.remove())

const here = platformName()
const isElf = process.platform === 'linux'
const isGlibc = here.endsWith('-gnu')
const hasCompiler = spawnSync('cc', ['--version']).status === 0
let directory
let platformPackage

before(() => {
  const files = {
    'program.cjs': "try { require('terrace') } catch (error) { console.log(error.message) }",
    'elsewhere.cjs': "Object.defineProperty(process, 'platform', { value: 'sunos' })"
  }
  directory = isShort ? copied(files) : installed(files)
  platformPackage = join(directory, 'node_modules', '@terrace-db', here)
})

/** A project in which npm has installed the package without that of the platform. */
function installed(files) {
  const platform = projects.pack('packages/terrace').find((archive) => /terrace-db-/.test(archive))
  const archives = projects.archivesOf('packages/terrace').filter((archive) => archive !== platform)
  return projects.make('loading', { archives, files })
}

/** The same, from the build of the package, with links to what it needs. */
function copied(files) {
  const directory = join(projects.directory, 'loading')
  const modules = join(directory, 'node_modules')
  mkdirSync(join(modules, 'terrace'), { recursive: true })
  for (const part of ['dist', 'package.json']) {
    cpSync(join(root, 'packages', 'terrace', part), join(modules, 'terrace', part), { recursive: true })
  }
  for (const name of ['abstract-level', 'terrace-core']) {
    symlinkSync(realpathSync(join(root, 'node_modules', name)), join(modules, name), 'junction')
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text)
  return directory
}

beforeEach(() => {
  rmSync(platformPackage, { recursive: true, force: true })
})

/** What a program that loads terrace prints, with `contents` in place of the addon. */
function messageWith(contents) {
  mkdirSync(platformPackage, { recursive: true })
  writeFileSync(join(platformPackage, 'package.json'), JSON.stringify({ main: 'terrace.node' }))
  if (contents) writeFileSync(join(platformPackage, 'terrace.node'), contents)
  return node(directory, 'program.cjs').stdout
}

test('a package that was omitted', () => {
  const { stdout } = node(directory, 'program.cjs')
  assert.match(
    stdout,
    new RegExp(`package .*@terrace-db/${here}.*install terrace again without --omit=optional`)
  )
})

test('a platform without builds', () => {
  const { stdout } = node(directory, '--require', './elsewhere.cjs', 'program.cjs')
  assert.match(stdout, new RegExp(`not published for sunos on ${process.arch}, only for linux-x64-gnu, `))
  assert.match(stdout, /npm run build:native/)
  assert.match(stdout, new RegExp(`copy terrace\\.sunos-${process.arch}\\.node from there`))
})

/** How files begin: a library of macOS on arm64, and one of Linux on x64. */
const HEADERS = {
  macho: 'cffaedfe0c00000100000000060000000000000000000000',
  elf: '7f454c4602010100000000000000000003003e0001000000'
}

test('a file for another system', () => {
  const header = HEADERS[process.platform === 'darwin' ? 'elf' : 'macho']
  const foreign = Buffer.concat([Buffer.from(header, 'hex'), Buffer.alloc(4096)])
  const message = messageWith(foreign)
  assert.match(message, /was found but failed to load/)
  assert.match(message, new RegExp(`built for another platform than ${process.platform} on ${process.arch}`))
  assert.match(message, /install terrace again/)
  assert.doesNotMatch(message, /--omit=optional/)
  // As after a download that broke off.
  assert.match(messageWith(foreign.subarray(0, 8)), /The file is damaged, or was built for another platform/)
})

test('a file for another processor', {
  skip: !(isElf && isGlibc && hasCompiler) && 'no glibc, or no compiler'
}, () => {
  const file = compile('int answer(void) { return 42; }')
  // The number of the processor. No processor has this one.
  file.writeUInt16LE(0x7fff, 18)
  assert.match(messageWith(file), new RegExp(`built for another platform than linux on ${process.arch}`))
})

test('a file that needs a newer glibc', {
  skip: !(isElf && isGlibc && hasCompiler) && 'no glibc, or no compiler'
}, () => {
  // Stands in for a later libc when the addon is linked, and is gone when it is loaded.
  writeFileSync(join(directory, 'versions'), 'GLIBC_9.99 { later; };')
  writeFileSync(join(directory, 'libc-later.c'), 'int later(void) { return 1; }')
  cc(
    '-nostdlib',
    '-Wl,-soname,libc.so.6',
    '-Wl,--version-script,versions',
    '-o',
    'liblater.so',
    'libc-later.c'
  )
  const file = compile('int later(void); int answer(void) { return later(); }', '-nostdlib', './liblater.so')
  const message = messageWith(file)
  assert.match(
    message,
    /needs glibc 9\.99 or newer, and this system has \d\.\d+: run it on a newer system, or compile/
  )
})

test('a file for the other C library', {
  skip: !(isElf && isGlibc && hasCompiler) && 'no glibc, or no compiler'
}, () => {
  cc(
    '-nostdlib',
    '-Wl,-soname,libc.musl-x86_64.so.1',
    '-o',
    'libmusl.so',
    writeSource('int later(void) { return 1; }')
  )
  const file = compile('int later(void); int answer(void) { return later(); }', '-nostdlib', './libmusl.so')
  assert.match(messageWith(file), /another C library \(glibc or musl\).*cannot be copied from Debian/)
})

function writeSource(text) {
  writeFileSync(join(directory, 'source.c'), text)
  return 'source.c'
}

function compile(source, ...options) {
  cc('-o', 'addon.so', writeSource(source), ...options)
  return execFileSync('cat', ['addon.so'], { cwd: directory })
}

function cc(...args) {
  execFileSync('cc', ['-shared', '-fPIC', ...args], { cwd: directory })
}

test('messages of other systems’ loaders are understood', () => {
  const advice = (platform, message) =>
    loadError({ platform, arch: 'arm64' }, [`${platform}-arm64`], [{ file: 'terrace.node', message }]).message
  const wrong = /built for another platform than \w+ on arm64/
  assert.match(advice('win32', '\\\\?\\C:\\terrace.node is not a valid Win32 application.'), wrong)
  assert.match(
    advice(
      'darwin',
      "dlopen(terrace.node): (mach-o file, but is an incompatible architecture (have 'x86_64'))"
    ),
    wrong
  )
  for (const said of [
    'slice is not valid mach-o file',
    'not a mach-o file',
    "fat file, but missing compatible architecture (have 'x86_64', need 'arm64')",
    'file too short'
  ]) {
    assert.match(advice('darwin', `dlopen(terrace.node, 0x0001): tried: 'terrace.node' (${said})`), wrong)
  }
  for (const said of [
    "code signature in <00B1> 'terrace.node' not valid for use in process: mapped file has no cdhash, completely unsigned?",
    "code signature invalid in <00B1> 'terrace.node' (errno=1)"
  ]) {
    const signed = advice('darwin', `dlopen(terrace.node, 0x0001): tried: 'terrace.node' (${said})`)
    assert.match(signed, /macOS does not accept the signature.*disable-library-validation/)
  }
  for (const said of [
    'Symbol not found: _pthread_jit_write_with_callback_np\n  Referenced from: <00B1> terrace.node',
    'Library not loaded: /usr/lib/libc++.2.dylib\n  Referenced from: <00B1> terrace.node'
  ]) {
    assert.match(advice('darwin', `dlopen(terrace.node, 0x0001): ${said}`), /It runs on macOS 11 and newer/)
  }
  assert.match(
    advice('linux', 'Error relocating terrace.node: gnu_get_libc_version: symbol not found'),
    /another C library/
  )
  assert.match(advice('linux', 'Error loading shared library: Exec format error'), wrong)
  assert.match(
    advice('linux', 'Error loading shared library ld-linux-aarch64.so.1: No such file'),
    /another C library/
  )
  assert.match(advice('linux', 'libc.so: invalid ELF header'), /another C library/)
  assert.match(
    advice('linux', 'something that nobody has seen'),
    /something that nobody has seen\n.*install terrace again/
  )
})

test('on Linux the build for the C library that runs is tried first', () => {
  const glibc = { getReport: () => ({ header: { glibcVersionRuntime: '2.36' } }) }
  const musl = { getReport: () => ({ header: {} }) }
  const on = (report, hasMusl) => buildsFor({ platform: 'linux', arch: 'x64', report }, () => hasMusl)
  const [gnuFirst, muslFirst] = [
    ['linux-x64-gnu', 'linux-x64-musl'],
    ['linux-x64-musl', 'linux-x64-gnu']
  ]
  assert.deepEqual(on(glibc, true), gnuFirst)
  assert.deepEqual(on(musl, true), muslFirst)
  assert.deepEqual(on(undefined, true), muslFirst)
  assert.deepEqual(on(undefined, false), gnuFirst)
  assert.deepEqual(buildsFor({ platform: 'win32', arch: 'arm64' }), ['win32-arm64'])
  assert.equal(glibcVersion({ platform: 'linux', arch: 'x64', report: {} }), undefined)
  for (const [platform, arch] of [
    ['darwin', 'x64'],
    ['win32', 'x64'],
    ['linux', 'arm64']
  ]) {
    for (const name of buildsFor({ platform, arch })) assert.ok(BUILDS.includes(name), name)
  }
})

test('a bundle that does not know its file looks beside the program that was started, and never in the working directory', () => {
  const [script, execPath] = ['program.mjs', 'node'].map((name) => resolve('installed', name))
  const found = (argv, more) => programFile({ argv: [execPath, ...argv], execPath, versions: {}, ...more })
  assert.equal(found([script, 'a']), script)
  for (const argv of [[], ['program.mjs'], ['./program.mjs'], ['--flag'], ['-'], ['']]) {
    assert.equal(found(argv), execPath, argv)
  }
  const electron = { versions: { electron: '40.0.0' } }
  assert.equal(found([script], { ...electron, defaultApp: true }), script)
  // A packaged app is started with a document, from anywhere.
  assert.equal(found([resolve('downloads', 'letter.txt')], electron), execPath)
})

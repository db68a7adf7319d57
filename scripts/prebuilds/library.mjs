// The C library for one platform, as an archive: headers, the shared and the static library, and the files that build systems use to
// find them. `scripts/install-capi` has the same layout.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileOf } from '../../packages/terrace/scripts/cargo-build.mjs'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { versionOf } from '../version.mjs'
import { packDirectory, stageIn } from './archive.mjs'
import { definedIn, llvm } from './inspect.mjs'
import { archiveFile, archiveName, root } from './paths.mjs'
import { fillTemplate } from './templates.mjs'

const capi = join(root, 'crates', 'capi')
const HEADERS = ['terrace.h', 'leveldb/c.h']

/** The number in the shared library's name, as `crates/capi/build.rs` sets it. */
const INTERFACE = 0

/** What a program that is linked statically needs as well, by system. Compilers know the C library and the one that unwinds stacks. */
const STATIC_LIBS = {
  linux: '-lpthread -lm -ldl',
  darwin: '-lSystem',
  win32: '-lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp -ladvapi32'
}

/** LevelDB's names for its library, Debian's and that of others, under which programs that are linked with it get Terrace. */
const LEVELDB_NAMES = ['libleveldb.so.1d', 'libleveldb.so.1']

export const library = { crate: 'terrace-capi', assemble }

/** What the shared library is to programs, see {@link complaints}. */
export function expectedOfLibrary({ os }) {
  const id = {
    linux: `libterrace.so.${INTERFACE}`,
    darwin: `@rpath/libterrace.${INTERFACE}.dylib`,
    win32: 'terrace.dll'
  }[os]
  return { exports: functions(), id }
}

/** The functions that the headers declare: names that parentheses follow, outside comments. */
export function functions() {
  return HEADERS.flatMap((header) => {
    const code = readFileSync(join(capi, 'include', header), 'utf8').replace(/\/\*.*?\*\//gs, '')
    return [...code.matchAll(/\b((?:leveldb|terrace)_\w+)\s*\(/g)].map(([, name]) => name)
  })
}

function assemble(name, files, directory) {
  const platform = PLATFORMS[name]
  const version = versionOf(root)
  const packed = archiveName('libterrace', version, name)
  const stage = join(directory, packed)
  const install = stageIn(stage)
  for (const header of HEADERS) install(join(capi, 'include', header), join('include/terrace', header))
  install(join(root, 'LICENSE'), 'LICENSE')
  install(join(capi, 'THIRD-PARTY-LICENSES.txt'), 'THIRD-PARTY-LICENSES.txt')
  const held = install(fileOf(files, /^libterrace\.a$/), 'lib/libterrace.a')
  // LLVM strips no archive that has parts of import libraries in it, as Rust's have for Windows.
  if (platform.os !== 'win32') llvm('strip', '--strip-debug', held)
  const shared = installShared(platform, version, files, stage, install)
  writeBuildFiles(platform, version, stage)

  const result = archiveFile(packed, platform, directory)
  packDirectory(stage, result)
  return {
    result,
    binary: shared,
    expected: expectedOfLibrary(platform),
    wrong: wrongIn(held),
    places: [[result, archiveFile(packed, platform)]]
  }
}

/** Installs the shared library, and what linkers look for in its place. Returns its path. */
function installShared(platform, version, files, stage, install) {
  const link = (target, path) => {
    mkdirSync(dirname(join(stage, path)), { recursive: true })
    symlinkSync(target, join(stage, path))
  }

  if (platform.os === 'win32') {
    for (const file of ['lib/terrace.lib', 'lib/libterrace.dll.a']) importLibrary(platform, join(stage, file))
    return install(fileOf(files, /^terrace\.dll$/), 'bin/terrace.dll', 0o755)
  }

  if (platform.os === 'darwin') {
    link(`libterrace.${version}.dylib`, `lib/libterrace.${INTERFACE}.dylib`)
    link(`libterrace.${INTERFACE}.dylib`, 'lib/libterrace.dylib')
    return install(fileOf(files, /^libterrace\.dylib$/), `lib/libterrace.${version}.dylib`, 0o755)
  }

  link(`libterrace.so.${version}`, `lib/libterrace.so.${INTERFACE}`)
  link(`libterrace.so.${INTERFACE}`, 'lib/libterrace.so')
  for (const name of LEVELDB_NAMES) link(`../../libterrace.so.${INTERFACE}`, `lib/terrace/leveldb/${name}`)
  const shared = install(fileOf(files, /^libterrace\.so$/), `lib/libterrace.so.${version}`, 0o755)
  llvm('strip', '--strip-unneeded', shared)
  return shared
}

/** Writes what linkers for Windows take in the place of the DLL. Microsoft's and those of MinGW read the same. */
function importLibrary({ cpu }, file) {
  const definitions = `${file}.def`
  const machine = { x64: 'i386:x86-64', arm64: 'arm64' }[cpu]
  writeFileSync(definitions, `LIBRARY terrace.dll\nEXPORTS\n${functions().join('\n')}\n`)
  execFileSync('llvm-dlltool', ['-m', machine, '-d', definitions, '-D', 'terrace.dll', '-l', file])
  rmSync(definitions)
}

/** Writes the files for pkg-config and CMake, which make the directory relocatable. */
function writeBuildFiles({ os }, version, stage) {
  const values = {
    version,
    prefix: `\${pcfiledir}/../..`,
    libdir: `\${prefix}/lib`,
    includedir: `\${prefix}/include/terrace`,
    headers: '../../../include/terrace',
    static_libs: STATIC_LIBS[os]
  }
  const write = (template, file) => {
    mkdirSync(dirname(join(stage, file)), { recursive: true })
    writeFileSync(join(stage, file), fillTemplate(template, values))
  }
  write('terrace.pc.in', 'lib/pkgconfig/terrace.pc')
  for (const file of ['terrace-config.cmake', 'terrace-config-version.cmake']) {
    write(`cmake/${file}.in`, `lib/cmake/terrace/${file}`)
  }
}

/** What is wrong with the static library. */
function wrongIn(held) {
  const contents = readFileSync(held)
  const named = [root, homedir()].filter((directory) => contents.includes(directory))
  return [
    ...named.map((directory) => `the static library names the directory ${directory}`),
    ...missingIn(held)
  ]
}

function missingIn(held) {
  const defined = new Set(definedIn(held))
  const missing = functions().filter((name) => !defined.has(name) && !defined.has(`_${name}`))
  return missing.length > 0 ? [`the static library lacks ${missing.join(', ')}`] : []
}

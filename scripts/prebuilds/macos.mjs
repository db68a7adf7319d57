// What links for macOS. zig's own linker exports every symbol; LLVM's, which Rust brings with it, takes a list.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tools, work } from './paths.mjs'

/** In the place of Apple's: libSystem alone. */
const SDK = join(work, 'macos-sdk')

/** Names under which Rust asks for libSystem. Of libiconv it uses nothing. */
const OTHER_NAMES = ['libc', 'libm', 'libiconv']

/** A directory of the linker. Its path is none of the compiler's options, which count for the bytes of the result. */
export const LINKER_DIRECTORY = join(root, 'scripts', 'prebuilds', 'bin')

/** Options for the compiler. */
export const LINKER_FLAGS = [
  '-Clinker=link-for-macos',
  '-Clinker-flavor=ld64.lld',
  '-Clink-arg=-S',
  // Libraries that are not used would be named in the file.
  '-Clink-arg=-dead_strip_dylibs'
]

/** What the linker finds in the environment. Writes the SDK. */
export function linkerEnvironment(sysroot) {
  const host = /^host: (.*)$/m.exec(execFileSync('rustc', ['-vV'], { cwd: root, encoding: 'utf8' }))[1]
  writeSdk()
  return {
    LINKER_FOR_MACOS: join(sysroot, 'lib', 'rustlib', host, 'bin', 'rust-lld'),
    SDKROOT: SDK
  }
}

/** Writes the description of libSystem that zig has, for an older linker: without processors that this does not know. */
function writeSdk() {
  const library = join(zigDirectory(), 'lib', 'libc', 'darwin', 'libSystem.tbd')
  const description = readFileSync(library, 'utf8')
    .replaceAll(/,\s*arm64e\.x1-\w+/g, '')
    .replaceAll('arm64e-', 'arm64-')
  const libraries = join(SDK, 'usr', 'lib')
  mkdirSync(libraries, { recursive: true })
  writeFileSync(join(libraries, 'libSystem.tbd'), description)
  for (const name of OTHER_NAMES) linkAgain('libSystem.tbd', join(libraries, `${name}.tbd`))
}

function linkAgain(target, path) {
  try {
    symlinkSync(target, path)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

function zigDirectory() {
  const program = 'import os, ziglang; print(os.path.dirname(ziglang.__file__))'
  return execFileSync(join(tools, 'python3'), ['-c', program], { encoding: 'utf8' }).trim()
}

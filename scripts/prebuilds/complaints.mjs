// What a build may need from the systems that it is for.

import { compareVersions } from './inspect.mjs'

const GLIBC_LIBRARIES = /^(lib(c|m|dl|pthread|rt|util)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)$/

const MAC_LIBRARIES = /^\/usr\/lib\/(libSystem\.B|libiconv\.2|libresolv\.9)\.dylib$/

/** user32 is for the program, whose shell reads keys. */
const WINDOWS_LIBRARIES =
  /^(kernel32|user32|ntdll|advapi32|bcryptprimitives|bcrypt|userenv|ws2_32|synchronization|msvcrt|ucrtbase|api-ms-win-[\w-]+)\.dll$/

const ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' }

/**
 * What is wrong with a build for `platform` of which {@link inspect} has said `facts`: nothing, if it is good.
 *
 * @param expected - What the file is to those that load it: its `exports`, and nothing else unless it `exportsMore`; its `id`, the
 *   name that it has for itself, if that matters; and whether it `isStatic`, which is without any library.
 */
export function complaints(platform, facts, expected) {
  const found = []
  const expect = (isRight, complaint) => {
    if (!isRight) found.push(complaint)
  }

  expect(facts.format.startsWith(formatOf(platform)), `it is ${facts.format}, not ${formatOf(platform)}`)
  const arch = ARCHITECTURES[platform.cpu]
  expect(facts.arch === arch, `it is for ${facts.arch}, not ${arch}`)
  const missing = expected.exports.filter((name) => !facts.exports.includes(name))
  expect(missing.length === 0, `it does not export ${missing.join(', ')}`)
  const more = expected.exportsMore ? [] : facts.exports.filter((name) => !expected.exports.includes(name))
  expect(more.length === 0, `it exports more: ${more.slice(0, 10).join(', ')}`)
  expect(
    expected.isStatic || facts.libraries.length > 0,
    'it names no library: it was not linked as others are, or not read right'
  )
  const known = expected.isStatic ? /^$/ : librariesOf(platform)
  const foreign = facts.libraries.filter((library) => !known.test(library))
  expect(foreign.length === 0, `it needs ${foreign.join(', ')}`)
  if (platform.libc === 'glibc') {
    const newer = facts.glibc.filter((version) => compareVersions(version, platform.glibc) > 0)
    expect(newer.length === 0, `it needs symbols of glibc ${newer.join(', ')}, later than ${platform.glibc}`)
    expect(facts.glibc.length > 0, 'it needs no symbol of glibc')
  }
  if (platform.libc === 'musl') expect(facts.glibc.length === 0, 'it needs symbols of glibc')
  if (platform.macos) {
    expect(facts.macos === platform.macos, `it is for macOS ${facts.macos}, not ${platform.macos} and newer`)
    // The linker lets an addon have them, and the addon asks for Node's functions by name.
    const { loose = [] } = facts
    expect(loose.length === 0, `it names no library for ${loose.join(', ')}`)
  }
  if (expected.id) expect(facts.id === expected.id, `it is named ${facts.id}, not ${expected.id}`)
  return found
}

function formatOf({ os }) {
  return { linux: 'elf64', darwin: 'Mach-O', win32: 'COFF' }[os]
}

function librariesOf({ os, libc }) {
  if (os === 'darwin') return MAC_LIBRARIES
  if (os === 'win32') return WINDOWS_LIBRARIES
  return libc === 'musl' ? /^libc\.so$/ : GLIBC_LIBRARIES
}

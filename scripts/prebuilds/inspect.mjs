// Reads from a built file what it needs from the system that loads it. LLVM's tools read the formats of all platforms.

import { execFileSync } from 'node:child_process'

/**
 * What the file says.
 *
 * @returns {{ format: string, arch: string, libraries: string[], exports: string[], glibc: string[], id?: string, macos?: string, loose?:
 *   string[] }} `libraries` as the file names them, `glibc` the versions of glibc's symbols, `id` the name that a library has for
 *   itself, `macos` the oldest version, and `loose` the symbols that any program may have.
 */
export function inspect(file) {
  const header = llvm('readobj', '--file-headers', file)
  const format = /^Format: (\S+)/m.exec(header)?.[1] ?? ''
  const arch = /^Arch: (\S+)/m.exec(header)?.[1] ?? ''
  return { format, arch, glibc: [], ...reader(format)(file) }
}

function reader(format) {
  if (format.startsWith('elf')) return readElf
  if (format.startsWith('Mach-O')) return readMachO
  if (format.startsWith('COFF')) return readPe
  throw new Error(`a file of the format "${format}" is not known`)
}

function readElf(file) {
  const needed = /NeededLibraries \[\n(.*?)\]/s.exec(llvm('readobj', '--needed-libs', file))
  const symbols = llvm('objdump', '--dynamic-syms', file)
  const name = /\(?SONAME\)?\s+Library soname: \[(.*?)\]/.exec(llvm('readobj', '--dynamic-table', file))
  return {
    id: name?.[1],
    libraries: lines(needed?.[1]),
    exports: matches(symbols, /^\w+ g\s+DF? \.text\s.*\s(\S+)$/gm),
    glibc: [...new Set(matches(symbols, /\(?GLIBC_([\d.]+)\)?/g))].sort(compareVersions)
  }
}

function readMachO(file) {
  const [, id] = lines(llvm('objdump', '--macho', '--dylib-id', file))
  const [, ...libraries] = lines(llvm('objdump', '--macho', '--dylibs-used', file))
  const commands = llvm('objdump', '--macho', '--private-headers', file)
  return {
    id,
    // Its own name comes first.
    libraries: libraries.map((line) => line.replace(/ \(.*/, '')).filter((library) => library !== id),
    exports: matches(llvm('objdump', '--macho', '--exports-trie', file), /\s_(\S+)$/gm),
    loose: matches(
      llvm('nm', '-m', '--undefined-only', file),
      /external _(\S+) \(dynamically looked up\)$/gm
    ),
    macos: (/\bcmd LC_BUILD_VERSION\n.*?\bminos (\S+)/s.exec(commands) ??
      /\bcmd LC_VERSION_MIN_MACOSX\n.*?\bversion (\S+)/s.exec(commands))?.[1]
  }
}

function readPe(file) {
  const exported = llvm('readobj', '--coff-exports', file)
  const imported = llvm('readobj', '--coff-imports', file)
  const name = /^\s*DLL name: (\S+)/m.exec(llvm('objdump', '--private-headers', file))
  return {
    id: name?.[1],
    libraries: matches(imported, /Import \{\n\s*Name: (\S+)/g).map((name) => name.toLowerCase()),
    exports: matches(exported, /^\s*Name: (\S+)/gm)
  }
}

/** -1, 0 or 1, as `sort` wants it. */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}

/** The names that others can link with in a static library, as the platform spells them. */
export function definedIn(file) {
  return matches(
    llvm('nm', '--no-llvm-bc', '--quiet', '--defined-only', '--extern-only', '--format=posix', file),
    /^(\S+) [A-Z]\b/gm
  )
}

/** Runs one of LLVM's tools. Returns what it prints. */
export function llvm(tool, ...args) {
  return execFileSync(`llvm-${tool}`, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe']
  })
}

function lines(text = '') {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function matches(text, pattern) {
  return [...text.matchAll(pattern)].map(([, found]) => found)
}

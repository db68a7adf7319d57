// What is built for a platform, unpacked, and how programs of the platform are compiled and run here.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PLATFORMS } from '../../../packages/terrace/scripts/platforms.mjs'
import { archiveFile, archiveName, root, tools } from '../../../scripts/prebuilds/paths.mjs'
import { versionOf } from '../../../scripts/version.mjs'

/** The targets of zig, which compiles C for every platform. */
const ZIG_TARGETS = {
  'linux-x64-gnu': `x86_64-linux-gnu.${PLATFORMS['linux-x64-gnu'].glibc}`,
  'linux-arm64-gnu': `aarch64-linux-gnu.${PLATFORMS['linux-arm64-gnu'].glibc}`,
  'linux-x64-musl': 'x86_64-linux-musl',
  'linux-arm64-musl': 'aarch64-linux-musl',
  'darwin-x64': 'x86_64-macos',
  'darwin-arm64': 'aarch64-macos',
  'win32-x64': 'x86_64-windows-gnu',
  'win32-arm64': 'aarch64-windows-gnu'
}

const has = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

/** An empty directory for a test. */
export function temporaryDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-archives-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The archive of a product for a platform, such as `libterrace` for `linux-x64-gnu`. */
export function archiveOf(product, name) {
  return archiveFile(archiveName(product, versionOf(root), name), PLATFORMS[name])
}

/** Why there is nothing to test, if there is not. */
export function reasonAgainst(product, name) {
  if (existsSync(archiveOf(product, name))) return false
  return `not built: make prebuilds WHAT=${product === 'terrace' ? 'program' : 'library'} PLATFORMS=${name}`
}

/** Unpacks an archive into `directory`. Returns the one directory that is in it. */
export function unpack(product, name, directory) {
  const archive = archiveOf(product, name)
  const [program, ...args] = archive.endsWith('.zip')
    ? ['unzip', '-q', archive, '-d', directory]
    : ['tar', '-xzf', archive, '-C', directory]
  execFileSync(program, args)
  return join(directory, archiveName(product, versionOf(root), name))
}

/** The command that compiles C for a platform; the compiler of this system where that is for it. */
export function compilerFor(name) {
  if (name === 'linux-x64-gnu' && process.arch === 'x64') return ['cc']
  if (name === 'win32-x64' && has('x86_64-w64-mingw32-gcc')) return ['x86_64-w64-mingw32-gcc']
  return [join(tools, 'python3'), '-m', 'ziglang', 'cc', '-target', ZIG_TARGETS[name]]
}

/** How programs for a platform are run here: the words before the program. `undefined` where they cannot. */
export function runnerFor(name) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  if (name === 'linux-x64-gnu' || name === 'linux-x64-musl') return []
  if (name.startsWith('linux-arm64')) {
    return has('qemu-aarch64-static') ? ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'] : undefined
  }
  const isReady = existsSync(join(root, 'target', 'wine')) && has('wine')
  return name === 'win32-x64' && isReady
    ? [join(root, 'tests', 'platforms', 'windows', 'wine.sh')]
    : undefined
}

/** Runs a program of a platform, which must succeed. Returns what it prints, with lines as on Linux. */
export function run(name, program, args, options = {}) {
  const [first, ...rest] = [...runnerFor(name), program, ...args]
  const env = { ...process.env, ...options.env }
  return execFileSync(first, rest, { ...options, env, encoding: 'utf8', timeout: 300_000 }).replaceAll(
    '\r\n',
    '\n'
  )
}

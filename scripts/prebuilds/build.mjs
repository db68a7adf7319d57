// Builds a crate for one platform, the same bytes wherever and whenever it is built with the same tools.

import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { buildBy } from '../../packages/terrace/scripts/cargo-build.mjs'
import { LINKER_DIRECTORY, LINKER_FLAGS, linkerEnvironment } from './macos.mjs'
import { root, tools, work } from './paths.mjs'

/**
 * The program is large: with all of it optimised at once it is smaller, and no slower. That takes longer to build. No code in it survives a
 * panic, so it needs no unwinding.
 */
const WHOLE = {
  CARGO_PROFILE_RELEASE_LTO: 'fat',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '1',
  CARGO_PROFILE_RELEASE_PANIC: 'abort'
}

/**
 * Builds a crate for a platform of the list, in a target directory of cargo. Returns the files. Ends this program if that fails.
 *
 * zig compiles C and links, for it comes with the C libraries of all the platforms, and glibc's in each version. For macOS it does not link.
 */
export function build({ crate, isStatic, isWhole }, platform, targetDirectory = join(work, 'build')) {
  const target = platform.glibc ? `${platform.target}.${platform.glibc}` : platform.target
  const options = ['--release', '--locked', '--target', target, '--target-dir', targetDirectory]
  const variables = { ...environment(platform, isStatic, targetDirectory), ...(isWhole && WHOLE) }
  return buildBy('zigbuild', crate, options, variables)
}

/**
 * zig's compiler writes for debuggers of Windows how it was called, and where it puts the object for a moment. A static library keeps
 * that.
 */
function objectFlags({ os }) {
  return os === 'win32' ? ['-g0', '-Xclang', '-object-file-name=object'] : []
}

function environment(platform, isStatic, targetDirectory) {
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { cwd: root, encoding: 'utf8' }).trim()
  // The later of two that fit counts.
  const prefixes = [
    [root, '/terrace'],
    [targetDirectory, '/terrace/target'],
    [process.env.CARGO_HOME ?? join(homedir(), '.cargo'), '/cargo'],
    [sysroot, '/rust']
  ].map(([from, to]) => `${from.replace(/\/$/, '')}=${to}`)

  const flags = prefixes.map((prefix) => `--remap-path-prefix=${prefix}`)
  // What loads a library has musl already. A program that brings its own runs on every Linux.
  if (platform.libc === 'musl' && !isStatic) flags.push('-Ctarget-feature=-crt-static')
  if (platform.os === 'darwin') flags.push(...LINKER_FLAGS)
  // zig as the linker puts the time into the file unless it optimises.
  if (platform.os === 'win32') flags.push('-Clink-arg=-O2')
  return {
    PATH: [LINKER_DIRECTORY, tools, process.env.PATH].join(delimiter),
    CARGO_ZIGBUILD_PYTHON_PATH: join(tools, 'python3'),
    CARGO_ZIGBUILD_CACHE_DIR: join(work, 'zig', 'wrappers'),
    ZIG_GLOBAL_CACHE_DIR: join(work, 'zig', 'cache'),
    CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f'),
    CFLAGS: [...prefixes.map((prefix) => `-ffile-prefix-map=${prefix}`), ...objectFlags(platform)].join(' '),
    CARGO_INCREMENTAL: '0',
    CARGO_PROFILE_RELEASE_DEBUG: '0',
    // Changing a file for macOS after it was linked would break its signature.
    CARGO_PROFILE_RELEASE_STRIP: platform.os === 'darwin' ? 'none' : 'debuginfo',
    MACOSX_DEPLOYMENT_TARGET: platform.macos ?? '',
    ...(platform.os === 'darwin' && linkerEnvironment(sysroot))
  }
}

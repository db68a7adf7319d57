// Builds the addon for one platform, the same bytes wherever and whenever it is built with the same tools.

import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { buildBy } from '../../packages/terrace/scripts/cargo-build.mjs'
import { root, tools, work } from './paths.mjs'

/**
 * Builds for a platform of the list, in a target directory of cargo. Returns the file. Ends this program if that fails.
 *
 * zig compiles C and links, for it comes with the C libraries of all the platforms, and glibc's in each version.
 */
export function build(platform, targetDirectory = join(work, 'build')) {
  const target = platform.glibc ? `${platform.target}.${platform.glibc}` : platform.target
  const options = ['--release', '--locked', '--target', target, '--target-dir', targetDirectory]
  return buildBy(
    'zigbuild',
    'terrace-node',
    /\.(so|dylib|dll)$/,
    options,
    environment(platform, targetDirectory)
  )
}

function environment(platform, targetDirectory) {
  // The later of two that fit counts.
  const prefixes = [
    [root, '/terrace'],
    [targetDirectory, '/terrace/target'],
    [process.env.CARGO_HOME ?? join(homedir(), '.cargo'), '/cargo'],
    [execFileSync('rustc', ['--print', 'sysroot'], { cwd: root, encoding: 'utf8' }).trim(), '/rust']
  ].map(([from, to]) => `${from.replace(/\/$/, '')}=${to}`)

  const flags = prefixes.map((prefix) => `--remap-path-prefix=${prefix}`)
  // What loads the addon has the C library already.
  if (platform.libc === 'musl') flags.push('-Ctarget-feature=-crt-static')
  return {
    PATH: `${tools}${delimiter}${process.env.PATH}`,
    CARGO_ZIGBUILD_PYTHON_PATH: join(tools, 'python3'),
    CARGO_ZIGBUILD_CACHE_DIR: join(work, 'zig', 'wrappers'),
    ZIG_GLOBAL_CACHE_DIR: join(work, 'zig', 'cache'),
    CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f'),
    CFLAGS: prefixes.map((prefix) => `-ffile-prefix-map=${prefix}`).join(' '),
    CARGO_INCREMENTAL: '0',
    CARGO_PROFILE_RELEASE_DEBUG: '0',
    // Changing a file for macOS after it was linked would break its signature.
    CARGO_PROFILE_RELEASE_STRIP: platform.os === 'darwin' ? 'none' : 'debuginfo',
    MACOSX_DEPLOYMENT_TARGET: platform.macos ?? ''
  }
}

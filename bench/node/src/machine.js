/** Describes the machine of a run, for the record. */

import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

/** @param {string} directory whose file system is described */
export function machine(directory) {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: operatingSystem(),
    kernel: `${type()} ${release()}`,
    fileSystem: fileSystem(read('/proc/mounts'), realpathSync(directory)),
    node: process.version
  }
}

/** The commit that the current directory is at; null outside a repository. */
export function commit() {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12']
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}

function operatingSystem() {
  return read('/etc/os-release').match(/^PRETTY_NAME="?([^"\n]*)/m)?.[1] ?? type()
}

/**
 * The type of the file system that is mounted closest above `directory`.
 * @param {string} mounts as in /proc/mounts
 * @param {string} directory
 */
export function fileSystem(mounts, directory) {
  const above = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, mount]) => mount !== undefined && `${directory}/`.startsWith(mount.replace(/\/?$/, '/')))
    .sort(([, a], [, b]) => a.length - b.length)
  return above.at(-1)?.[2] ?? 'unknown'
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

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

/**
 * The commit that the current directory is at, with `-dirty` if there are changes apart from results, which a benchmark writes
 * itself; null outside a repository.
 */
export function commit() {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const changes = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      ':/',
      ':(top,exclude)bench/results'
    )
    return git('describe', '--always', '--abbrev=12') + (changes === '' ? '' : '-dirty')
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

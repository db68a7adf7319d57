/** Makes files be read from the disk again, by asking the system to drop them from its cache. */

import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from './errors.js'

const run = promisify(execFile)

/**
 * The files of a directory and of its subdirectories.
 * @param {string} directory
 */
export function filesOf(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** @param {string[]} files */
export function bytesOf(files) {
  return files.reduce((sum, file) => sum + statSync(file).size, 0)
}

/**
 * Writes files out and drops them from the page cache. That needs no privilege while no process has them mapped. Node has no
 * call for it; GNU dd makes it (`posix_fadvise` with `POSIX_FADV_DONTNEED`) when told to copy nothing.
 * @param {string[]} files
 */
export async function drop(files) {
  for (const file of files) {
    const args = [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']
    try {
      await run('dd', args)
    } catch (error) {
      throw new UsageError(
        `cannot empty the page cache, for which GNU dd on Linux is needed: ${error.message}`
      )
    }
  }
}

/**
 * How many bytes of files are in memory; null if fincore of util-linux is missing.
 * @param {string[]} files
 */
export async function residentBytes(files) {
  const args = ['--bytes', '--noheadings', '--output', 'RES', ...files]
  // For missing files it fails after all others. Those of an open database may be missing.
  const { stdout } = await run('fincore', args).catch((/** @type {{ stdout?: string }} */ error) => error)
  return stdout ? stdout.split('\n').reduce((sum, line) => sum + Number(line), 0) : null
}

/** Files that are read from the disk again: the system is asked to forget what it keeps of them in memory. */

import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from './errors.js'

const run = promisify(execFile)

/**
 * The files of a directory and of those in it.
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
 * Writes files out and drops them from the page cache, which needs no privilege as long as no process has them mapped.
 * Node has no call for it; GNU dd makes it (`posix_fadvise` with `POSIX_FADV_DONTNEED`) when told to copy nothing.
 * @param {string[]} files
 */
export async function drop(files) {
  for (const file of files) {
    const args = [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']
    try {
      await run('dd', args)
    } catch (error) {
      throw new UsageError(`cannot empty the page cache, which takes GNU dd on Linux: ${error.message}`)
    }
  }
}

/**
 * How many bytes of files are in memory; null where fincore of util-linux is missing.
 * @param {string[]} files
 */
export async function residentBytes(files) {
  const args = ['--bytes', '--noheadings', '--output', 'RES', ...files]
  // It fails after all others for files that are gone, as those of an open database may be.
  const { stdout } = await run('fincore', args).catch((/** @type {{ stdout?: string }} */ error) => error)
  return stdout ? stdout.split('\n').reduce((sum, line) => sum + Number(line), 0) : null
}

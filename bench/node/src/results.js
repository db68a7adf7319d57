/** Results in files: one JSON object on each line, one line for each run of a target. */

import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from './errors.js'

/**
 * @typedef {object} Result
 * @property {string} workload
 * @property {string} target
 * @property {{ name: string, version: string }} package
 * @property {object} databaseOptions
 * @property {import('./settings.js').Settings} settings
 * @property {number} round from 0
 * @property {import('./recorder.js').Line[]} lines
 * @property {{ peakRssBytes: number, startRssBytes: number, peakHeapBytes: number }} [memory] unknown in browsers
 * @property {number} fileBytes of the databases when they were closed
 * @property {any} [batches] of sorted-write: percentiles in ms, and a series over time
 * @property {import('./event-loop.js').Bucket[]} [eventLoopBuckets] of sustained, cold-read and plain-loop
 * @property {any} [pageCache] of cold-read: `fileBytes`, and how much of them was in memory, null if unknown
 * @property {Record<string, import('./opening/trace.js').Calls | null>} [calls] of open: system calls of each line, null where they
 * cannot be counted
 * @property {import('./opening/many.js').Many} [many] of open: many databases in one process
 * @property {ReturnType<typeof import('../../../scripts/machine.mjs').machine>} machine
 * @property {string | null} commit
 * @property {string} date when it ended
 */

/**
 * @param {string} file
 * @param {Result} result
 */
export function appendResult(file, result) {
  try {
    mkdirSync(dirname(file), { recursive: true })
    appendFileSync(file, `${JSON.stringify(result)}\n`)
  } catch (error) {
    throw new UsageError(`cannot write results: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * @param {string[]} files
 * @returns {Result[]}
 */
export function readResults(files) {
  if (files.length === 0)
    throw new UsageError('name a file of results, which terrace-bench run --results writes')
  return files.flatMap(readFile)
}

/** @param {string} file @returns {Result[]} */
function readFile(file) {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read results: ${/** @type {Error} */ (error).message}`)
  }
  const lines = text.split('\n').filter((line) => line !== '')
  if (lines.length === 0) throw new UsageError(`${file} is empty`)
  return lines.map((line, index) => {
    try {
      const result = JSON.parse(line)
      if (Array.isArray(result.lines)) return result
    } catch {
      // Reported like a line with another object.
    }
    throw new UsageError(`${file}, line ${index + 1}: this is not a result of terrace-bench`)
  })
}

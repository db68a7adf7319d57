/** The loops that are measured, and the preparation of their input, which is not. */

import { setImmediate as turn } from 'node:timers/promises'
import { VerificationError } from './errors.js'

/** Entries that are prepared at once: few enough to take little memory. */
const CHUNK = 100_000
/** Entries that are prepared without a break, so that preparing them does not delay the event loop. */
const SLICE = 500
/** One in this many results is compared byte by byte. */
const CHECK_EVERY = 16

/**
 * @typedef {object} Chunk
 * @property {number} from number of the first operation
 * @property {number} length
 * @property {Uint32Array} indexes
 * @property {any[]} keys
 * @property {any[]} values empty unless requested
 * @property {{ type: 'put', key: any, value: any }[][]} batches the same as operations, if requested
 */

/**
 * Prepares keys and values, calls `run` with them while the watch runs, and repeats that.
 * @param {object} work
 * @param {import('./context.js').Context} work.context
 * @param {import('./entries.js').Entries} work.entries
 * @param {number} work.count
 * @param {(i: number) => number} work.indexAt
 * @param {boolean} [work.values]
 * @param {number} [work.batchSize] operations in a batch, if batches are wanted
 * @param {import('./recorder.js').Stopwatch} watch
 * @param {(chunk: Chunk) => Promise<void>} run
 */
export async function inChunks(
  { context, entries, count, indexAt, values = false, batchSize = 0 },
  watch,
  run
) {
  for (let from = 0; from < count; from += CHUNK) {
    const length = Math.min(CHUNK, count - from)
    /** @type {Chunk} */
    const chunk = { from, length, indexes: new Uint32Array(length), keys: [], values: [], batches: [] }
    for (let i = 0; i < length; i++) {
      const index = indexAt(from + i)
      chunk.indexes[i] = index
      chunk.keys.push(entries.key(index))
      if (values) chunk.values.push(entries.value(index))
      if (batchSize > 0) {
        if (i % batchSize === 0) chunk.batches.push([])
        chunk.batches[chunk.batches.length - 1].push({
          type: 'put',
          key: chunk.keys[i],
          value: chunk.values[i]
        })
      }
      if (i % SLICE === 0) await turn()
    }
    watch.start()
    await run(chunk)
    watch.stop()
    context.recorder.sampleHeap()
    context.progress((from + length) / count)
  }
}

/**
 * Calls `operation` for the numbers below `count`, `concurrency` at once, and `check` with each result.
 * @param {number} count
 * @param {number} concurrency
 * @param {(i: number) => unknown} operation
 * @param {(i: number, result: any) => void} [check]
 */
export async function forEach(count, concurrency, operation, check) {
  let next = 0
  const worker = check === undefined ? write : read

  async function write() {
    while (next < count) await operation(next++)
  }

  async function read() {
    while (next < count) {
      const i = next++
      const result = await operation(i)
      check?.(i, result)
    }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker))
}

/**
 * Checks a value that was read: always that it exists, and sometimes all of it.
 * @param {import('./entries.js').Entries} entries
 * @param {number} index
 * @param {unknown} value
 * @param {number} i number of the operation
 */
export function checkValue(entries, index, value, i) {
  if (value === undefined) throw new VerificationError(`number ${index} was written, but is not found`)
  if (i % CHECK_EVERY === 0 && !entries.holds(index, value)) {
    throw new VerificationError(`number ${index} has a wrong value`)
  }
}

/**
 * @param {import('./entries.js').Entries} entries
 * @param {number} index
 * @param {unknown} key
 * @param {number} i number of the operation
 */
export function checkKey(entries, index, key, i) {
  if (key === undefined) throw new VerificationError(`the key of number ${index} is missing`)
  if (i % CHECK_EVERY === 0 && entries.indexOf(key) !== index) {
    throw new VerificationError(`expected the key of number ${index}, but found ${key}`)
  }
}

/**
 * @param {number} found
 * @param {number} expected
 */
export function checkCount(found, expected) {
  if (found !== expected) throw new VerificationError(`expected ${expected} entries, but found ${found}`)
}

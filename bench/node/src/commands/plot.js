/** `plot`: draws each workload in files of results, as SVG and as PNG. */

import { writeFileSync } from 'node:fs'
import { UsageError } from '../errors.js'
import { batchTimes } from '../plot/batch-times.js'
import { delays } from '../plot/delays.js'
import { dots } from '../plot/dots.js'
import { draw } from '../plot/draw.js'
import { readResults } from '../results.js'
import { groups } from '../statistics.js'

/** @param {import('../options.js').Parsed} parsed */
export async function plot({ values, positionals }) {
  const results = readResults(positionals)
  const prefix = values.out ?? positionals[0].replace(/\.jsonl$/, '')
  /** @type {Map<string, number>} */
  const used = new Map()

  for (const group of groups(results)) {
    const name = nameOf(group[0])
    const count = (used.get(name) ?? 0) + 1
    used.set(name, count)
    const file = `${prefix}-${name}${count > 1 ? `-${count}` : ''}`
    const { svg, png } = await draw(specOf(group))
    try {
      writeFileSync(`${file}.svg`, svg)
      writeFileSync(`${file}.png`, png)
    } catch (error) {
      throw new UsageError(`cannot write the picture: ${error.message}`)
    }
    console.log(`${file}.svg and .png`)
  }
}

/** @param {import('../results.js').Result[]} results */
function specOf(results) {
  const [{ batches, eventLoopBuckets }] = results
  if (batches !== undefined) return batchTimes(results)
  return eventLoopBuckets !== undefined ? delays(results) : dots(results)
}

/** @param {import('../results.js').Result} result */
function nameOf({ workload, settings: { keyOrder, batchSize, readPercent, sync } }) {
  let name = workload
  if (workload === 'sorted-write' && keyOrder === 'random') name = 'random-write'
  if (workload === 'sustained' && batchSize > 1) name = 'sustained-batches'
  if (workload === 'cold-read' && readPercent < 100) name = 'cold-read-write'
  return sync ? `${name}-sync` : name
}

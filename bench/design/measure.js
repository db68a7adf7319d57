// What the measurements of this directory share: rounds interleaved, the best of them, tables, directories that are removed.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commit } from '../../scripts/machine.mjs'

const target = fileURLToPath(new URL('../../target', import.meta.url))

/** The options of the command line: `-n` entries, `--rounds`, and `only` this table. */
export function settings(entries) {
  const { values } = parseArgs({
    options: {
      n: { type: 'string', short: 'n' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string' }
    }
  })
  return { n: Number(values.n ?? entries), rounds: Number(values.rounds), only: values.only }
}

/**
 * Measures each variant once a round, interleaved, so that a slow minute of the machine is slow for all.
 *
 * @param {number} rounds
 * @param {Record<string, (directory: string) => Promise<Record<string, number>>>} variants - Each gets a new directory and
 *   returns its figures by name.
 * @returns {Promise<Record<string, Record<string, number>>>} The best of the rounds, which for every figure is
 *   the lowest, by variant and name.
 */
export async function inTurns(rounds, variants) {
  const names = Object.keys(variants)
  const all = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length]
      mkdirSync(target, { recursive: true })
      const directory = mkdtempSync(join(target, 'design-'))
      try {
        all[name].push(await variants[name](directory))
      } finally {
        rmSync(directory, { recursive: true })
      }
    }
  }
  return Object.fromEntries(names.map((name) => [name, best(all[name])]))
}

function best(runs) {
  const lowest = (figure) => Math.min(...runs.map((run) => run[figure]))
  return Object.fromEntries(Object.keys(runs[0]).map((figure) => [figure, lowest(figure)]))
}

/** Prints a table in Markdown: a row a variant, a column a figure. */
export function printTable(what, results) {
  const figures = Object.keys(Object.values(results)[0])
  console.log(`| ${what} | ${figures.join(' | ')} |`)
  console.log(`|---|${figures.map(() => '---:').join('|')}|`)
  for (const [variant, values] of Object.entries(results)) {
    console.log(`| ${variant} | ${figures.map((figure) => rounded(values[figure])).join(' | ')} |`)
  }
}

const rounded = (value) =>
  value >= 1000
    ? Math.round(value).toLocaleString('en')
    : value === 0
      ? '0'
      : Number(value.toPrecision(3)).toString()

/** Prints what the figures were measured on. */
export function printMachine(rounds) {
  console.log(
    `The best of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, interleaved, on ${cpus()[0].model}, Node ${process.version}, at ${commit()}. Times are CPU time over all threads, unless stated otherwise.`
  )
}

/** The milliseconds that `work` takes. */
export async function milliseconds(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * The milliseconds of processor time that `work` takes, on all threads of the process: what other programs do meanwhile does not
 * count.
 */
export async function processorMilliseconds(work) {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The bytes of all files in a directory and below. */
export function fileBytes(directory) {
  return readdirSync(directory, { recursive: true })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, status) => sum + (status.isFile() ? status.size : 0), 0)
}

/** Calls `write(indices)` for all of `count` indices, a thousand at a time. */
export async function inBatches(count, write) {
  for (let i = 0; i < count; i += 1000) {
    await write(Array.from({ length: Math.min(1000, count - i) }, (_, k) => i + k))
  }
}

/** Random whole numbers below `limit`, always the same ones. */
export function randomNumbers(seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** A value of 100 bytes that does not compress well. */
export function valueNumber(i) {
  const random = randomNumbers(i + 1)
  return Array.from({ length: 100 }, () => String.fromCharCode(32 + random(90))).join('')
}

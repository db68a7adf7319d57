/** `run`: each round runs each target once, each in a separate process, in an order that rotates. */

import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commit, machine } from '../../../../scripts/machine.mjs'
import { KEY_SIZE } from '../entries.js'
import { UsageError, VerificationError } from '../errors.js'
import { runSettings } from '../options.js'
import { Progress } from '../progress.js'
import { reportOf } from '../report.js'
import { appendResult } from '../results.js'
import { resolveTarget } from '../targets/resolve.js'

const CHILD = fileURLToPath(new URL('../child.js', import.meta.url))
/** The space that a database may take for each byte of entries, while it moves them. */
const SPACE_FACTOR = 3

/** @typedef {import('../targets/resolve.js').Target} Target */

/** @param {import('../options.js').Parsed} parsed */
export async function run(parsed) {
  const plan = runSettings(parsed)
  const directory = makeDirectory(plan.dir ?? tmpdir())
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', removeDirectory)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

  const resolved = resolveTargets(plan)
  await checkRoom(directory, plan, resolved)
  const targets = await usableTargets(resolved, plan, directory)
  checkReference(plan.reference, targets)
  const about = { machine: machine(directory), commit: commit() }
  const progress = new Progress(plan.rounds * targets.length)
  /** @type {import('../results.js').Result[]} */
  const results = []
  try {
    for (let round = 0; round < plan.rounds; round++) {
      for (const target of rotated(targets, round)) {
        progress.begin(`round ${round + 1} of ${plan.rounds}, ${target.name}, ${plan.workload}`)
        const begun = performance.now()
        const { workload, settings } = plan
        const measured = await inChild({ workload, target, settings, directory }, (share) =>
          progress.update(share)
        )
        progress.end((performance.now() - begun) / 1000)
        const result = {
          workload,
          target: target.name,
          package: target.package,
          databaseOptions: target.options,
          settings,
          round,
          ...measured,
          ...about,
          date: new Date().toISOString()
        }
        if (plan.results !== undefined) appendResult(plan.results, result)
        results.push(result)
      }
    }
  } finally {
    progress.stop()
  }
  console.log(reportOf(results, plan.reference))
}

/** @param {string} dir */
function makeDirectory(dir) {
  try {
    mkdirSync(dir, { recursive: true })
    return mkdtempSync(join(dir, 'terrace-bench-'))
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`cannot make a directory for databases in ${dir} (choose with --dir): ${message}`)
  }
}

/** @typedef {ReturnType<typeof runSettings>} Plan */

/** @param {Plan} plan */
function resolveTargets({ targets, databaseOptions, className, inMemory, skipMissing }) {
  const unknown = Object.keys(databaseOptions).find((name) => name !== 'all' && !targets.some(isNamed(name)))
  if (unknown !== undefined) throw new UsageError(`--db ${unknown}=…: there is no such target in this run`)
  const optionsOf = (/** @type {string} */ name) => ({ ...databaseOptions.all, ...databaseOptions[name] })
  /** @type {Map<string, Target>} */
  const resolved = new Map()
  for (const named of targets) {
    try {
      const target = resolveTarget(named, { className, inMemory, databaseOptions: optionsOf })
      if (resolved.has(target.name)) {
        throw new UsageError(`two targets are named ${target.name}: tell them apart with LABEL=${named}`)
      }
      resolved.set(target.name, target)
    } catch (error) {
      if (!skipMissing) throw error
      leaveOut(error)
    }
  }
  return [...resolved.values()]
}

/**
 * The targets that load and open, which is tried for each in a separate process.
 * @param {Target[]} targets
 * @param {Plan} plan
 * @param {string} directory
 */
async function usableTargets(targets, { settings, skipMissing }, directory) {
  /** @type {Target[]} */
  const usable = []
  for (const target of targets) {
    try {
      await inChild({ workload: null, target, settings, directory }, () => {})
      usable.push(target)
    } catch (error) {
      if (!skipMissing) throw error
      leaveOut(error)
    }
  }
  if (usable.length === 0) throw new UsageError('none of the targets can be used')
  return usable
}

/** @param {Error} error */
function leaveOut({ message }) {
  console.error(`terrace-bench: left out: ${message}`)
}

/** @param {string} name */
function isNamed(name) {
  return (/** @type {string} */ target) => target === name || target.startsWith(`${name}=`)
}

/**
 * @param {string | undefined} reference
 * @param {Target[]} targets
 */
function checkReference(reference, targets) {
  if (reference === undefined || targets.some(({ name }) => name === reference)) return
  throw new UsageError(`--reference ${reference} is none of ${targets.map(({ name }) => name).join(', ')}`)
}

/**
 * Checks the free space now, rather than failing after an hour.
 * @param {string} directory
 * @param {Plan} plan
 * @param {Target[]} targets
 */
async function checkRoom(directory, { settings: { n, valueSize } }, targets) {
  if (targets.every(({ inMemory }) => inMemory)) return
  const { bavail, bsize } = await statfs(directory)
  const wanted = n * (KEY_SIZE + valueSize) * SPACE_FACTOR
  if (bavail * bsize >= wanted) return
  throw new UsageError(
    `this may take ${gigabytes(wanted)} in ${directory}, where ${gigabytes(bavail * bsize)} are free: ` +
      'choose another directory with --dir, or a smaller -n'
  )
}

/** @param {number} bytes */
function gigabytes(bytes) {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

/**
 * @template Item
 * @param {Item[]} items
 * @param {number} by
 */
function rotated(items, by) {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

/**
 * @param {import('../child.js').Job} job
 * @param {(share: number) => void} onProgress
 * @returns {Promise<any>}
 */
function inChild(job, onProgress) {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const killChild = () => child.kill()
    process.once('exit', killChild)
    const { name } = job.target

    child.on('message', (/** @type {any} */ message) => {
      if (message.progress !== undefined) onProgress(message.progress)
      else if (message.result !== undefined) resolve(message.result)
      else reject(failure(name, message.error))
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.removeListener('exit', killChild)
      // This has no effect if there was a result.
      reject(
        new UsageError(`${name}: the process ended with ${signal ?? `code ${code}`} before it had a result`)
      )
    })
    child.send(job)
  })
}

/**
 * @param {string} name
 * @param {{ message: string, code?: string, isExpected: boolean }} error
 */
function failure(name, { message, code, isExpected }) {
  if (code === 'ENOSPC' || /disk full|no space left/i.test(message)) {
    return new UsageError(
      `${name}: the disk is full: choose another directory with --dir, or a smaller -n\n${message}`
    )
  }
  return isExpected ? new VerificationError(`${name}: ${message}`) : new Error(`${name}: ${message}`)
}

/** Steps that need a separate process: one that is killed, and one that strace watches. */

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countCalls } from './trace.js'

const STEP = fileURLToPath(new URL('./step.js', import.meta.url))

/** @typedef {import('../context.js').Context} Context */

/**
 * @typedef {object} Step
 * @property {'die' | 'open'} name
 * @property {string[]} locations
 * @property {string} directory where it may make databases
 * @property {import('../targets/resolve.js').Target} target
 * @property {import('../settings.js').Settings} settings
 */

/**
 * Loads databases in a process that is killed while they are open.
 * @param {Context} context
 * @param {string[]} locations
 */
export async function writeAndDie(context, locations) {
  const { signal, stderr } = await runStep([], context, 'die', locations)
  if (signal !== 'SIGKILL') throw new Error(`the process that was to be killed ended otherwise: ${stderr}`)
}

/**
 * The system calls of opening and closing the database at `location`, which is made if there is none; null, with the reason
 * printed, if they cannot be counted.
 * @param {Context} context
 * @param {string} location
 * @returns {Promise<import('./trace.js').Calls | null>}
 */
export async function callsOfOpen(context, location) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-bench-calls-'))
  try {
    const file = join(directory, 'calls')
    const { code, stderr } = await runStep(['strace', '-f', '-o', file], context, 'open', [location])
    if (code === 0) return countCalls(readFileSync(file, 'utf8'))
    console.error(`terrace-bench: system calls are not counted: ${stderr.trim()}`)
    return null
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * @param {string[]} before the command, if another program is to run it
 * @param {Context} context
 * @param {Step['name']} name
 * @param {string[]} locations
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null, stderr: string }>}
 */
function runStep(before, { target, settings, directory }, name, locations) {
  const step = JSON.stringify({ name, locations, directory, target, settings })
  const [command, ...args] = [...before, process.execPath, STEP, step]
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    child.once('error', ({ message }) => resolve({ code: null, signal: null, stderr: message }))
    child.once('close', (code, signal) => resolve({ code, signal, stderr }))
  })
}

// Runs a program and keeps what it prints.

import { spawn } from 'node:child_process'

/** What hangs is killed after this time. The slowest job, in an emulator on a busy machine, takes a tenth of it. */
const LONGEST_MS = 3_600_000

/**
 * @typedef {object} Ended
 * @property {number | null} status - The exit code; `null` after a signal.
 * @property {string} output - What it printed, errors included.
 */

/** @returns {Promise<Ended>} */
export function runProgram(command, args, { cwd, environment } = {}) {
  return new Promise((resolve, reject) => {
    const options = {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...inherited(), ...environment },
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL'
    }
    const child = spawn(command, args, options)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.on('error', reject).on('close', (status) => resolve({ status, output }))
  })
}

// Node 24 and newer refuse this Windows otherwise, and colours are no part of the results.
function inherited() {
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env
  return { ...rest, NO_COLOR: '1', NODE_SKIP_PLATFORM_CHECK: '1' }
}

// Runs terrace-copy for tests.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Starts the program. It is killed after the test, if it still runs. */
export function start(t, args, { cwd, env = {}, file = program } = {}) {
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.after(() => child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  for (const [name, stream] of [
    ['out', child.stdout],
    ['err', child.stderr]
  ]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output[name] += text
    })
  }
  /** Resolves with the exit code, or the signal, after all output was read. */
  const closed = once(child, 'close').then(([code, signal]) => code ?? signal)
  return { child, output, closed }
}

/** What the program prints of its progress, if it takes longer than a second, as it may on a busy machine. */
const progress = /^(opening|copying|verifying|closing)( .*)?\n/gm

/** Runs the program to its end. What it printed of its progress is left out. */
export async function run(t, args, options) {
  const { closed, output } = start(t, args, options)
  const code = await closed
  return { code, out: output.out, err: output.err.replace(progress, '') }
}

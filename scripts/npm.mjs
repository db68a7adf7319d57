// Starts npm wherever Node runs.

import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'

/**
 * Runs npm to its end, and returns what it printed. `options` are those of `execFileSync()`.
 *
 * @throws if npm is missing or fails, as `execFileSync()` does.
 */
export function npm(args, options) {
  const [program, ...before] = commandOf(process)
  return execFileSync(program, [...before, ...args], options)
}

/**
 * The program that is npm, and what comes before its arguments. On Windows npm is a batch file, which Node does not start without a
 * shell; the script it calls is run instead: that of the npm that runs this program, or else the one that came with Node.
 */
export function commandOf({ platform, execPath, env }) {
  if (platform !== 'win32') return ['npm']
  const { npm_execpath: running = '' } = env
  const script = running.endsWith('npm-cli.js')
    ? running
    : join(dirname(execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js')
  return [execPath, script]
}

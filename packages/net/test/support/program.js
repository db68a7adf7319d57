// Runs terrace-serve for tests.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

// On Windows it is removed only at the end, when nothing in it is open.
export { temporaryDirectory as directory } from '../../../terrace/test/support/databases.js'

export const program = fileURLToPath(new URL('../../dist/serve/main.js', import.meta.url))

/** Starts the program. It is killed after the test, if it still runs. */
export function start(t, args, { file = program, cwd } = {}) {
  const child = spawn(process.execPath, [file, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    output.out += text
  })
  child.stderr.on('data', (text) => {
    output.err += text
  })
  const closed = once(child, 'close').then(([code]) => code)
  return {
    output,
    /** Resolves with the exit code, after all output was read. */
    closed,
    signal: (name) => child.kill(name),
    /** Resolves with the addresses once the program is ready. */
    async ready(count = 1) {
      const addresses = []
      const lines = createInterface({ input: child.stdout })
      for await (const line of lines) {
        addresses.push(line.replace(/^(listening|metrics) /, ''))
        if (addresses.length === count) return addresses
      }
      throw new Error(`it ended: ${output.err}`)
    },
    /** Resolves once standard error contains this. */
    async says(text) {
      while (!output.err.includes(text)) await once(child.stderr, 'data')
    }
  }
}

/** Runs the program to its end. */
export async function run(t, args, options) {
  const { closed, output } = start(t, args, options)
  const code = await closed
  return { code, ...output }
}

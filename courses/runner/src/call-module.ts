/** Runs in a child process: calls the function that a learner's module exports, and sends back what it returned. */

import { pathToFileURL } from 'node:url'
import type { Call, CallMessage } from './call-messages.js'

process.once('message', (call: Call) => {
  // Not caught: Node prints the error of a module that cannot be loaded, with the line that is wrong.
  void answer(call)
})

async function answer({ file, exportName, harness, data }: Call): Promise<void> {
  const module = await import(pathToFileURL(file).href)
  const called = module[exportName]
  if (typeof called !== 'function') {
    send({ kind: 'no-function', exportName, found: Object.keys(module) })
    return
  }

  try {
    const value =
      harness === undefined
        ? await called(data)
        : await (await import(pathToFileURL(harness).href)).default(called, data, {
            directory: process.cwd(),
            module
          })
    sendValue(value)
  } catch (error) {
    send({ kind: 'threw', ...described(error) })
  }
}

function sendValue(value: unknown): void {
  try {
    send({ kind: 'returned', value })
  } catch (error) {
    send({ kind: 'not-sendable', message: (error as Error).message })
  }
}

/** Sends the only message, and ends the process, whatever else it still waits for. */
function send(message: CallMessage): void {
  process.send?.(message, undefined, undefined, () => process.exit(0))
}

function described(error: unknown): { text: string; permission?: string; resource?: string } {
  if (!(error instanceof Error)) return { text: `Thrown: ${String(error)}` }
  const { permission, resource } = error as { permission?: unknown; resource?: unknown }
  const text = [error.stack ?? String(error)]
  for (let { cause } = error as { cause?: unknown }; cause instanceof Error; cause = cause.cause) {
    text.push(`[cause]: ${cause.stack}`)
  }
  if (typeof permission !== 'string') return { text: text.join('\n') }
  return { text: text.join('\n'), permission, resource: String(resource ?? '') }
}

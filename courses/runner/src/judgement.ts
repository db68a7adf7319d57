/** What the end of a learner's program says about it. */

import type { CallMessage } from './call-messages.js'
import { type Denial, denialIn } from './permission.js'
import { defaultTimeoutMs, MAX_OUTPUT_BYTES, type ProgramResult } from './program.js'
import type { Say } from './texts/index.js'

/** What is wrong with a program. */
export interface Problem {
  readonly message: string
  /** What it wrote to its error output, or the error that it threw. */
  readonly details: string
}

interface Limits {
  readonly timeoutMs?: number
  readonly allowFailure?: boolean
}

/** What is wrong with a program that has ended. */
export function judgeProgram(result: ProgramResult, limits: Limits, say: Say): Problem | undefined {
  const { stderr, code, signal, timedOut, tooMuchOutput } = result
  if (timedOut) {
    const seconds = (limits.timeoutMs ?? defaultTimeoutMs()) / 1000
    return { message: say('timed-out', { seconds }), details: stderr }
  }
  if (tooMuchOutput) return { message: say('too-much-output', { count: MAX_OUTPUT_BYTES }), details: '' }
  const denial = denialIn(stderr)
  if (denial) return { message: denialText(denial, say), details: stderr }
  if (limits.allowFailure) return undefined
  if (signal !== null) return { message: say('ended-by-signal', { signal }), details: stderr }
  if (code !== 0) return { message: say('ended-with-code', { code: String(code) }), details: stderr }
  return undefined
}

/** What is wrong with a function that was called in a process. */
export function judgeCall(
  message: CallMessage | undefined,
  result: ProgramResult,
  limits: Limits,
  say: Say
): Problem | undefined {
  if (message !== undefined) return judgeMessage(message, say)
  const ended = judgeProgram(result, { ...limits, allowFailure: true }, say)
  if (ended) return ended
  const { code, signal, stderr } = result
  if (signal !== null) return { message: say('ended-by-signal', { signal }), details: stderr }
  if (/^\s+at /m.test(stderr) || /\bSyntaxError: /.test(stderr)) {
    return { message: say('call-unloadable'), details: stderr }
  }
  // 13: Node ends so if a module waits at its top level for what never comes.
  if (code === 0 || code === 13) return { message: say('call-never-settled'), details: '' }
  return { message: say('call-exited', { code: String(code) }), details: stderr }
}

function judgeMessage(message: CallMessage, say: Say): Problem | undefined {
  switch (message.kind) {
    case 'returned':
      return undefined
    case 'threw': {
      const { text, permission, resource = '' } = message
      const told = permission === undefined ? say('call-threw') : denialText({ permission, resource }, say)
      return { message: told, details: text }
    }
    case 'no-function': {
      const found = message.found.join(', ') || say('nothing')
      return { message: say('call-no-function', { name: message.exportName, found }), details: '' }
    }
    case 'not-sendable':
      return { message: say('call-not-sendable', { message: message.message }), details: '' }
  }
}

function denialText({ permission, resource }: Denial, say: Say): string {
  if (permission === 'FileSystemWrite') return say('write-refused', { path: resource })
  if (permission === 'ChildProcess') return say('child-refused')
  if (permission === 'WorkerThreads') return say('worker-refused')
  return say('other-refused', { permission })
}

// Is loaded before a learner's program, and notes what the program asks of its databases. See observed-program.mjs.

import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const CALLS = [
  'put',
  'putSync',
  'batch',
  'batchSync',
  'get',
  'getSync',
  'getMany',
  'iterator',
  'keys',
  'values',
  'close'
]

// Processes that the program starts are none of our concern.
const file = process.env.TERRACE_WORKSHOP_NOTES
for (const name of ['TERRACE_WORKSHOP_NOTES', 'NODE_OPTIONS']) delete process.env[name]

const calls = []
const databases = new Set()
const { Level } = await levelOf(process.argv[1])
for (const call of CALLS) {
  const original = Level.prototype[call]
  Level.prototype[call] = function (...values) {
    databases.add(this)
    calls.push(call)
    return original.apply(this, values)
  }
}

process.on('exit', () => {
  const isOpen = [...databases].some(({ status }) => status !== 'closed')
  writeFileSync(file, JSON.stringify({ calls, isOpen }))
})

/** The class that the program gets: of the package beside it, otherwise of the workshop's. */
async function levelOf(program) {
  try {
    return createRequire(program)('terrace')
  } catch {
    return import('terrace')
  }
}

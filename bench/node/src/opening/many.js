/** Many small databases open in one process: what they take of its memory, threads and descriptors. */

import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeInOrder } from '../workloads/writes.js'

/**
 * @typedef {object} Many
 * @property {number} databases
 * @property {number} microsPerOpen to create one
 * @property {Growth | null} growth by all of them, each with ten entries written; null where the system does not tell
 */

/**
 * @typedef {object} Growth
 * @property {number} memoryBytes of the process, pages of files that it has mapped included
 * @property {number} threads
 * @property {number} descriptors
 */

const ENTRIES = 10

/**
 * Creates `count` databases and writes into each.
 * @param {import('../context.js').Context} context
 * @param {number} count
 * @returns {Promise<Many>}
 */
export async function openMany(context, count) {
  const [warmUp, ...locations] = context.newLocations(count + 1)
  /** @param {import('../session.js').Session} session */
  const write = (session) => writeInOrder(context, session, ENTRIES, 1)

  // What the first one makes for all of them does not count.
  const first = await context.open({ location: warmUp })
  await write(first)
  const before = usage()
  /** @type {import('../session.js').Session[]} */
  const sessions = []
  const begun = performance.now()
  for (const location of locations) sessions.push(await context.open({ location }))
  const microsPerOpen = ((performance.now() - begun) * 1000) / count
  for (const session of sessions) await write(session)
  const after = usage()
  for (const session of [first, ...sessions]) await session.suspend()
  await rm(dirname(warmUp), { recursive: true, force: true })
  const growth =
    before === null || after === null
      ? null
      : {
          memoryBytes: after.memoryBytes - before.memoryBytes,
          threads: after.threads - before.threads,
          descriptors: after.descriptors - before.descriptors
        }
  return { databases: count, microsPerOpen, growth }
}

/** What the process uses now; null where there is no /proc. */
function usage() {
  globalThis.gc?.()
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    return {
      memoryBytes: Number(status.match(/^VmRSS:\s*(\d+) kB$/m)?.[1]) * 1024,
      threads: Number(status.match(/^Threads:\s*(\d+)$/m)?.[1]),
      descriptors: readdirSync('/proc/self/fd').length
    }
  } catch {
    return null
  }
}

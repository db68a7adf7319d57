/** Runs one job, sent by the parent, in a separate process, so that nothing else has filled its heap. */

import { Context } from './context.js'
import { UsageError, VerificationError } from './errors.js'
import { loadClass } from './targets/load.js'
import { WORKLOADS } from './workloads/index.js'

/**
 * @typedef {object} Job
 * @property {string | null} workload null only opens and closes a database
 * @property {import('./targets/resolve.js').Target} target
 * @property {import('./settings.js').Settings} settings
 * @property {string} directory
 */

/**
 * @typedef {{ progress: number }
 *   | { result: { lines: import('./recorder.js').Line[], memory: object, fileBytes?: number } }
 *   | { error: { message: string, code?: string, isExpected: boolean } }} Message
 */

process.once('message', async (/** @type {Job} */ job) => {
  try {
    send({ result: await perform(job) })
  } catch (error) {
    send({ error: describe(/** @type {Error} */ (error)) })
  }
  process.disconnect?.()
})

/** @param {Job} job */
async function perform(job) {
  const Class = await loadClass(job.target)
  const context = new Context(job, Class, (progress) => send({ progress }))
  if (job.workload === null) {
    await tryToOpen(context, job.target)
    return { lines: [], memory: {} }
  }
  const more = await WORKLOADS[job.workload].run(context)
  const { lines, memory, fileBytes } = context.recorder
  return { lines, memory, fileBytes, ...more }
}

/**
 * @param {Context} context
 * @param {import('./targets/resolve.js').Target} target
 */
async function tryToOpen(context, { package: { name } }) {
  try {
    await (await context.open()).close()
  } catch (error) {
    const { message } = error.cause ?? error
    const isNotBuilt = /bindings file|No native build/.test(message)
    const reason = isNotBuilt
      ? `its native part is missing: run 'npm rebuild ${name}' where it is installed`
      : message
    throw new UsageError(`does not open: ${reason}`, { cause: error })
  }
}

/** @param {Error & { code?: string, cause?: any }} error */
function describe(error) {
  const isExpected = error instanceof UsageError || error instanceof VerificationError
  const causes = []
  for (let at = error.cause; at instanceof Error && causes.length < 5; at = at.cause) causes.push(at.message)
  const message = isExpected ? error.message : [error.stack ?? error.message, ...causes].join('\n  because: ')
  return { message, code: error.cause?.code ?? error.code, isExpected }
}

/** @param {Message} message */
function send(message) {
  // The parent may have been interrupted, and the connection gone.
  if (process.connected) process.send?.(message)
}

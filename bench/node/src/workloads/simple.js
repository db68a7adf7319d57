/** Workloads with a single line. */

import { verify, Written } from '../verify.js'
import { recordGetMany, recordGets, recordScan } from './reads.js'
import { openLoaded, recordWrites } from './writes.js'

/** @typedef {import('../context.js').Context} Context */

/** @param {Context} context */
export async function put(context) {
  await write(context, 'put', undefined)
}

/** @param {Context} context */
export async function batchPut(context) {
  await write(context, 'batch-put', context.settings.batchSize)
}

/**
 * @param {Context} context
 * @param {string} name
 * @param {number | undefined} batchSize
 */
async function write(context, name, batchSize) {
  const { n, concurrency } = context.settings
  const session = await context.open()
  const written = new Written(n)
  const indexAt = context.sequence(n, context.order)
  await recordWrites(context, session, name, { count: n, indexAt, written, concurrency, batchSize })
  await verify(session, written)
  await session.close()
}

/** @param {Context} context */
export async function get(context) {
  const { n, concurrency } = context.settings
  const session = await openLoaded(context, n)
  const indexAt = context.sequence(n, context.order)
  await recordGets(context, session, 'get', { count: n, indexAt, concurrency })
  await session.close()
}

/** @param {Context} context */
export async function getMany(context) {
  const { n, concurrency, batchSize: size } = context.settings
  const session = await openLoaded(context, n)
  const indexAt = context.sequence(n, context.order)
  await recordGetMany(context, session, 'get-many', { count: n, indexAt, concurrency, size })
  await session.close()
}

/** @param {Context} context */
export async function iterate(context) {
  const { n } = context.settings
  const session = await openLoaded(context, n)
  await recordScan(context, session, 'iterate', n, session.has('iterator') ? 'entries' : 'sync')
  await session.close()
}

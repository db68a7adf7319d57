// The databases that everything is run over: those of each back-end in the list, which are described in its package's `test/targets`,
// and clients in front of them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { backEnds } from '../../scripts/back-ends.mjs'
import { inFrontOf } from './in-front-of.js'

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {string} machines - How many machines can use one database: what no probe on one machine can find out.
 * @property {{ getSync: boolean, putSync: boolean, everyWrite: boolean, conditionalWrites: boolean }} supports - What the database must
 * say of itself.
 * @property {(location: string, options?: object) => any} make - Makes a database, not yet open, at a location that is a path
 * in an existing directory. The same location means the same database.
 * @property {(db: any) => any} [join] - Makes another object for the same open database in another process, of which `db` has
 * the `address`. Without it, `make` does.
 * @property {object} several - Options with which several processes write to one database.
 * @property {() => string | undefined} [missing] - Why it cannot run at all.
 * @property {Server} [server] - What must run meanwhile.
 * @property {number} [timeoutMs] - How long the suite, and each file of tests, may take, if more than usual.
 * @property {Target} [alone] - The same, which declares that it is the only writer.
 * @property {boolean} [isVariant] - Whether it is a class that another target has as well, with another store or server.
 * @property {string[] | 'all'} [repeats] - The jobs that prove nothing which another target's do not. A run that neither names a target
 * or job nor keeps results leaves them out.
 * @property {Record<string, import('../support/known.mjs').Known[]>} known - Tests of each part that do not hold for it.
 *
 * @typedef {{ name: string, from: string, server?: Server }} Measured - What a benchmark measures: a package, or a module that exports
 * its class as `Database`.
 *
 * @typedef {object} Server
 * @property {() => string | undefined} missing - Why it cannot run here.
 * @property {() => Promise<{ environment: Record<string, string>, stop: () => Promise<void> }>} start
 */

/** @type {Array<{ targets: Target[], measured: Measured[] }>} */
export const described = []
for (const { directory } of backEnds) {
  const file = join(directory, 'test/targets/index.js')
  if (existsSync(file)) described.push(await import(pathToFileURL(file).href))
}
const own = described.flatMap(({ targets }) => targets)
const [level] = own

/** @type {Target[]} */
export const targets = [
  ...own.flatMap((target) => (target.alone === undefined ? [target] : [target, target.alone])),
  // One of each class: a client in front of it shows what clients do with the class.
  ...own.map((target) => inFrontOf(target, target.isVariant ? { repeats: 'all' } : {})),
  inFrontOf(level, { transport: 'tcp' })
]

/** The target of this name, or an error that names all. */
export function targetNamed(name) {
  const found = targets.find((target) => target.name === name)
  if (found !== undefined) return found
  throw new Error(`there is no target '${name}': ${targets.map((target) => target.name).join('; ')}`)
}

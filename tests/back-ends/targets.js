// The databases that everything is run over, one file each.

import { level } from './targets/level.js'
import { lmdb } from './targets/lmdb.js'
import { memory } from './targets/memory.js'
import { mysql, mysqlAlone, mysqlOnMysql, mysqlOnMysqlAlone, mysqlOnNodes } from './targets/mysql.js'
import { inFrontOf } from './targets/net.js'
import { slate, slateOnS3 } from './targets/slate.js'

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {string} machines - How many machines can use one database: what no probe on one machine can find out.
 * @property {{ getSync: boolean, putSync: boolean, everyWrite: boolean }} supports - What the database must say of itself.
 * @property {(location: string, options?: object) => any} make - Makes a database, not yet open, at a location that is a path
 * in an existing directory. The same location means the same database.
 * @property {(db: any) => any} [join] - Makes another object for the same open database in another process, of which `db` has
 * the `address`. Without it, `make` does.
 * @property {object} several - Options with which several processes write to one database.
 * @property {() => string | undefined} [missing] - Why it cannot run at all.
 * @property {Server} [server] - What must run meanwhile.
 * @property {number} [timeoutMs] - How long the suite, and each file of tests, may take, if more than usual.
 * @property {string[] | 'all'} [repeats] - The jobs that prove nothing which another target's do not. A run that neither names a target
 * or job nor keeps results leaves them out.
 * @property {Record<string, import('../support/known.mjs').Known[]>} known - Tests of each part that do not hold for it.
 *
 * @typedef {object} Server
 * @property {() => string | undefined} missing - Why it cannot run here.
 * @property {() => Promise<{ environment: Record<string, string>, stop: () => Promise<void> }>} start
 */

/** @type {Target[]} */
const own = [level, memory, lmdb, mysql, mysqlOnMysql, ...mysqlOnNodes, slate, slateOnS3]

/** One of each class: a client in front of it shows what clients do with the class. */
const ofEachClass = [level, memory, lmdb, mysql, slate]

/** Those of them that can also say that nobody else writes. */
const alone = new Map([
  [mysql, mysqlAlone],
  [mysqlOnMysql, mysqlOnMysqlAlone]
])

/** @type {Target[]} */
export const targets = [
  ...own.flatMap((target) => (alone.has(target) ? [target, alone.get(target)] : [target])),
  ...own.map((target) => inFrontOf(target, ofEachClass.includes(target) ? {} : { repeats: 'all' })),
  inFrontOf(level, { transport: 'tcp' })
]

/** The target of this name, or an error that names all. */
export function targetNamed(name) {
  const found = targets.find((target) => target.name === name)
  if (found !== undefined) return found
  throw new Error(`there is no target '${name}': ${targets.map((target) => target.name).join('; ')}`)
}

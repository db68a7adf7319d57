// Databases on a MariaDB server that the test file shares, and that ends with it.

import { after, test as nodeTest } from 'node:test'
import { MysqlLevel } from 'terrace-mysql'
import { belongingsOf } from '../../../../terrace/test/support/databases.js'
import { serverMissing, startServer } from '../cluster/index.js'
import { NOSYNC } from './server.js'

export { pause } from '../../../../terrace/test/support/databases.js'

const missing = serverMissing()
if (missing !== undefined) console.log(`Tests are left out: ${missing}`)

/** Registers a test that needs a server. It is skipped, with a reason, if none can be started. */
export function test(name, run) {
  nodeTest(name, { skip: missing ?? false }, run)
}

let starting
let made = 0

/** The server of this file. */
export function theServer(options = { args: NOSYNC }) {
  starting ??= startServer(options)
  return starting
}

after(async () => (await starting)?.stop())

/** An unused name for a database. */
export function newName() {
  return `db-${process.pid}-${made++}`
}

/** A database, not yet open, with a new name unless the options set one. */
export async function newLevel(t, options, url) {
  const db = new MysqlLevel(url ?? (await theServer()).url, { name: newName(), ...options })
  belongingsOf(t).databases.push(db)
  return db
}

/** An open database. */
export async function openLevel(t, options, url) {
  const db = await newLevel(t, options, url)
  await db.open()
  return db
}

/** The same, but created first with the default deadline: creating the tables takes longer than the options allow. */
export async function openMadeLevel(t, options, url) {
  const name = options.name ?? newName()
  const made = await openLevel(t, { name }, url)
  await made.close()
  return openLevel(t, { ...options, name }, url)
}

// Databases on a server of MariaDB that the test file shares, and which ends with it.

import { after, test as nodeTest } from 'node:test'
import { MysqlLevel } from 'terrace-mysql'
import { belongingsOf } from '../../../../terrace/test/support/databases.js'
import { serverMissing, startServer } from '../cluster/index.js'
import { NOSYNC } from './server.js'

export { pause } from '../../../../terrace/test/support/databases.js'

const missing = serverMissing()
if (missing !== undefined) console.log(`Tests are left out: ${missing}`)

/** Registers a test that needs a server. It is left out, with a reason, where none can be started. */
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

/** The name of a database that nobody has used. */
export function newName() {
  return `db-${process.pid}-${made++}`
}

/** A database, not yet open, with a new name unless the options say it. */
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

/** The same, made before with the default deadline: making the tables takes longer than the one in the options allows. */
export async function openMadeLevel(t, options, url) {
  const name = options.name ?? newName()
  const made = await openLevel(t, { name }, url)
  await made.close()
  return openLevel(t, { ...options, name }, url)
}

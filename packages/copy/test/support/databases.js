// One database of each kind that can be opened here.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after } from 'node:test'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import * as terrace from 'terrace'
import { LmdbLevel } from 'terrace-lmdb'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { isShort } from '../../../../tests/support/form.mjs'
import { directory } from './directory.js'

const { Level } = terrace

/** Opens a database, and closes it when the test ends. */
async function opened(t, db) {
  t.after(() => db.close())
  await db.open()
  return db
}

/** A client of a server in front of a database. */
async function served(t, db) {
  const server = createServer(await opened(t, db))
  const address = await server.listen('tcp://127.0.0.1:0')
  // The client first, then the server, then the database.
  t.after(() => server.close())
  return opened(t, new NetLevel(address))
}

const inDirectory = (Database) => (t) => opened(t, new Database(join(directory(t), 'db')))

/** For each name, a function that makes an open database for the test `t`. */
export const databases = {
  Level: inDirectory(Level),
  LmdbLevel: inDirectory(LmdbLevel),
  'classic-level': inDirectory(ClassicLevel),
  'memory-level': (t) => opened(t, new MemoryLevel()),
  'NetLevel in front of Level': (t) => served(t, new Level(join(directory(t), 'db'))),
  'NetLevel in front of memory-level': (t) => served(t, new MemoryLevel())
}

/**
 * Databases that can be opened only where something is installed, and that take longer. Each returns how to make one, or why there
 * is none.
 */
const optional = {
  MemoryLevel: () =>
    terrace.MemoryLevel === undefined
      ? 'terrace has no MemoryLevel'
      : (t) => opened(t, new terrace.MemoryLevel()),

  async SlateLevel() {
    const { SlateLevel } = await installed('terrace-slatedb')
    return SlateLevel === undefined ? 'terrace-slatedb is not installed' : inDirectory(SlateLevel)
  },

  async MysqlLevel() {
    const { MysqlLevel } = await installed('terrace-mysql')
    if (MysqlLevel === undefined) return 'terrace-mysql is not installed'
    const { serverMissing, startServer } = await import('../../../back-ends/mysql/test/cluster/index.js')
    const reason = serverMissing()
    if (reason) return reason
    let server
    after(() => server?.stop())
    return async (t) => {
      server ??= await startServer()
      return opened(t, new MysqlLevel(server.url, { name: randomUUID() }))
    }
  }
}

/** A package, or an object without anything if it is not installed. */
async function installed(name) {
  try {
    return await import(name)
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${name}'`)) return {}
    throw error
  }
}

for (const [name, find] of Object.entries(optional)) {
  const found = isShort && name !== 'MemoryLevel' ? 'it runs in the full form only' : await find()
  if (typeof found === 'function') databases[name] = found
  else console.log(`skipped: ${name}: ${found}`)
}

// What a database can do, found out by doing it.

import { methods, reopened, snapshots } from './calls.js'
import { killed, together } from './processes.js'
import { largest } from './sizes.js'

const KIB = 1024
const MIB = 1024 * KIB

/** What it declares, and what it does. Each probe has its own database. */
export async function probe(target, location) {
  return {
    declared: await withOpen(target, location(), declared),
    methods: await withOpen(target, location(), methods),
    snapshots: await withOpen(target, location(), snapshots),
    staysAfterClosing: await withOpen(target, location(), reopened),
    staysAfterKill: {
      put: await killed(target, location(), { sync: false }),
      syncedPut: await killed(target, location(), { sync: true })
    },
    keyBytes: await withOpen(target, location(), (db) =>
      largest(MIB, 1, (length) => [Buffer.alloc(length, 'k'), Buffer.from('v')], db)
    ),
    valueBytes: await withOpen(target, location(), (db) =>
      largest(64 * MIB, KIB, (length) => [Buffer.from('k'), Buffer.alloc(length, 'v')], db)
    ),
    processes: {
      asUsual: await together(target, location(), {}),
      shared: await together(target, location(), target.several),
      // A client is no reader of the database's files.
      reader: target.join === undefined ? await together(target, location(), {}, { readOnly: true }) : null
    }
  }
}

async function withOpen(target, location, use) {
  const db = target.make(location)
  await db.open()
  try {
    return await use(db)
  } finally {
    await db.close()
  }
}

function declared({ supports: { everyWrite, permanence, createIfMissing, errorIfExists, encodings } }) {
  return {
    everyWrite: everyWrite === true,
    permanence: permanence === true,
    createIfMissing: createIfMissing === true,
    errorIfExists: errorIfExists === true,
    encodings: Object.keys(encodings).filter((name) => ['utf8', 'buffer', 'view'].includes(name))
  }
}

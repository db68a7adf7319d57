// The parts of the toolbox that keep state in memory must refuse a database to which others write as well.

import { feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { lock } from 'terrace-toolbox/lock'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'

const parts = {
  index: (db) => index(db, { name: 'value', on: (value) => value }),
  transaction: (db) => transactions(db),
  ttl: (db) => ttl(db),
  feed: (db) => feed(db),
  lock: (db) => lock(db)
}

/** The code of the error with which each part refuses the database; null if it does not. */
export async function refusals(db) {
  await db.open()
  const codes = Object.entries(parts).map(([part, use]) => [part, codeOf(() => use(db))])
  await db.close()
  return Object.fromEntries(codes)
}

function codeOf(call) {
  try {
    call()
    return null
  } catch ({ code, message }) {
    return code ?? message
  }
}

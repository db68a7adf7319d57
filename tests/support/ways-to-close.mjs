// How programs close a database. Each rejects with what `close()` reports.

import assert from 'node:assert/strict'

export const waysToClose = {
  'close()': (db) => db.close(),
  'await using': (db) => db[Symbol.asyncDispose](),
  'close() behind a write': (db) => {
    db.put('behind', 'value').catch(() => {})
    return db.close()
  },
  'two calls of close()': async (db) => {
    const results = await Promise.allSettled([db.close(), db.close()])
    const failed = results.filter(({ status }) => status === 'rejected')
    assert.ok(failed.length <= 1, 'reported twice')
    if (failed.length === 1) throw failed[0].reason
  }
}

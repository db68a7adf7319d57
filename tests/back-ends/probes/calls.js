// Probes of calls: what works within a call, and what a reader sees of later writes.

/** For each method whether it works; a method that is missing must say so by LEVEL_NOT_SUPPORTED. */
export async function methods(db) {
  await db.put('k', 'v')
  const calls = {
    getSync: () => db.getSync('k') === 'v',
    iterateSync: () => [...db.iterateSync()].length === 1,
    putSync: () => {
      db.putSync('s', 'v')
      return true
    },
    batchSync: () => {
      db.batchSync([{ type: 'del', key: 's' }])
      return true
    }
  }
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, works(call)]))
}

function works(call) {
  try {
    return call()
  } catch (error) {
    if (error.code !== 'LEVEL_NOT_SUPPORTED' && !(error instanceof TypeError)) throw error
    return false
  }
}

/** Whether a snapshot that was taken, and an iterator that was made, show what was there then. */
export async function snapshots(db) {
  await db.batch([1, 2, 3].map((number) => ({ type: 'put', key: `${number}`, value: 'old' })))
  const iterator = db.iterator()
  const snapshot = db.supports.explicitSnapshots === true ? db.snapshot() : undefined
  await db.batch([
    { type: 'put', key: '1', value: 'new' },
    { type: 'del', key: '2' }
  ])
  const isOld = (entries) => entries.map(([key, value]) => key + value).join() === '1old,2old,3old'
  const found = {
    implicit: isOld(await iterator.all()),
    explicit: snapshot !== undefined && isOld(await db.iterator({ snapshot }).all())
  }
  await snapshot?.close()
  return found
}

/** Whether what was written is there after the database was closed and opened. */
export async function reopened(db) {
  await db.put('k', 'v')
  await db.close()
  await db.open()
  return (await db.get('k')) === 'v'
}

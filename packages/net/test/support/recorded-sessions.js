// What clients of the package send in sessions that do everything, as the frames in which it travels.

import { NetLevel } from 'terrace-net'
import { framesIn } from './conversations.js'
import { relay } from './relay.js'

/** Lets a client do random things over a Unix socket, and returns the frames that it has sent, its greeting first. */
export async function recordedSession(random, address, token) {
  const chunks = []
  const between = await relay(address, (bytes) => chunks.push(bytes))
  const db = new NetLevel(between.address, { token })
  await db.open()
  const steps = [
    () => db.put(key(random), value(random)),
    () => db.batch([...operations(random), ...operations(random)]),
    () => db.put(key(random), value(random), { if: [{ key: key(random), exists: random.below(2) === 0 }] }),
    () => db.get(key(random)),
    () => db.getEntry(key(random)),
    () => db.getMany([key(random), key(random), key(random)]),
    () => db.has(key(random)),
    () => db.hasMany([key(random), key(random)]),
    () => db.clear({ gte: 'x', limit: random.below(5) }),
    () => db.iterator({ gte: key(random), highWaterMarkBytes: 20 }).all(),
    () => reading(db, random),
    () => inSnapshot(db, random),
    () => db.call('echo', { a: [1, 'text', null] }),
    () => db.call('fail'),
    () => watching(db, random),
    () => following(db)
  ]
  for (let step = 0; step < 12; step++)
    await random
      .pick(steps)()
      .catch(() => {})
  await db.close()
  await between.stop()
  return framesIn(Buffer.concat(chunks))
}

const key = (random) => random.pick(['a', 'b', 'key', 'x1', 'x2'])
const value = (random) => 'v'.repeat(random.pick([0, 1, 100, 70_000]))
const operations = (random) =>
  Array.from({ length: 1 + random.below(3) }, () =>
    random.below(3) === 0
      ? { type: 'del', key: key(random) }
      : { type: 'put', key: key(random), value: value(random) }
  )

async function reading(db, random) {
  const iterator = db.keys({ reverse: random.below(2) === 0 })
  await iterator.nextv(2)
  iterator.seek(key(random))
  await iterator.nextv(1)
  await iterator.close()
}

async function inSnapshot(db, random) {
  const snapshot = db.snapshot()
  await db.get(key(random), { snapshot })
  await db.iterator({ snapshot }).nextv(1)
  await db.batch([], { if: [{ gte: key(random), unchangedSince: snapshot }] })
  await snapshot.close()
}

async function watching(db, random) {
  const writes = db.watch()
  await db.put('a', value(random))
  await writes.next()
  await writes.return()
}

async function following(db) {
  const changes = db.changes('changes', { since: 0 })
  await changes.next()
  await changes.return()
}

// The workloads. Each does about `operations` operations on a database of `entries` entries, and returns how many it has done.

import { check, keyOf, put, randoms, valueFor } from './entries.js'

const BATCH = 1000
const RANGE = 100
const MANY = 64

/** Does `count` operations, `concurrency` at a time. */
async function pipelined(count, concurrency, operation) {
  let started = 0
  const worker = async () => {
    while (started++ < count) await operation()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return count
}

function gets(concurrency, share) {
  return (db, { operations, entries }) => {
    const random = randoms(1)
    return pipelined(Math.ceil(operations * share), concurrency, async () => {
      const key = keyOf(random(entries))
      check(key, await db.get(key))
    })
  }
}

/** By name. A row counts what `unit` says. */
export const WORKLOADS = {
  'get, 1 at a time': { unit: 'gets', run: gets(1, 0.1) },
  [`get, ${MANY} at a time`]: { unit: 'gets', run: gets(MANY, 1) },
  [`put, ${MANY} at a time`]: {
    unit: 'puts',
    run(db, { operations, entries }) {
      const random = randoms(2)
      return pipelined(Math.ceil(operations / 2), MANY, () => {
        const key = keyOf(random(entries))
        return db.put(key, valueFor(key))
      })
    }
  },
  [`batch of ${BATCH}`]: {
    unit: 'puts',
    async run(db, { operations, entries }) {
      const random = randoms(3)
      const batches = Math.max(1, Math.round(operations / BATCH))
      const made = Array.from({ length: batches }, () =>
        Array.from({ length: BATCH }, () => put(keyOf(random(entries))))
      )
      const start = performance.now()
      for (const batch of made) await db.batch(batch)
      return { count: batches * BATCH, seconds: (performance.now() - start) / 1000 }
    }
  },
  'iterate over all': {
    unit: 'entries',
    async run(db, { operations, entries }) {
      const passes = Math.ceil(operations / entries)
      let count = 0
      for (let pass = 0; pass < passes; pass++) {
        for await (const [key, value] of db.iterator()) {
          if (count++ % 16 === 0) check(key, value)
        }
      }
      if (count !== passes * entries) throw new Error(`${count} entries came in ${passes} passes`)
      return count
    }
  },
  [`range of ${RANGE}`]: {
    unit: 'ranges',
    run(db, { operations, entries }) {
      const random = randoms(4)
      return pipelined(Math.ceil(operations / RANGE), 1, async () => {
        const first = random(Math.max(1, entries - RANGE))
        const found = await db.iterator({ gte: keyOf(first), limit: RANGE }).all()
        if (found.length !== Math.min(RANGE, entries - first)) throw new Error(`${found.length} entries came`)
        check(...found[0])
      })
    }
  }
}

/** Runs a workload, after a shorter run that lets V8 compile it. Returns operations and seconds. */
export async function measure(name, db, settings) {
  const { run } = WORKLOADS[name]
  await run(db, { ...settings, operations: Math.ceil(settings.operations / 10) })
  const start = performance.now()
  const done = await run(db, settings)
  if (typeof done === 'object') return done
  return { count: done, seconds: (performance.now() - start) / 1000 }
}

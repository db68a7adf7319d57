// The gaps that abstract-level has in its hooks, sublevels and events: what classic-level from npm does, and what our class
// does, over each back-end. Each scenario runs on all.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { kindsOf, temporaryDirectory } from './support/databases.js'

/** Our class, over each back-end with synchronous methods. */
const ours = kindsOf({ later: false }).map(([kind, { make }]) => [kind, { make, of: 'terrace' }])
const classic = { make: (t) => new ClassicLevel(temporaryDirectory(t)), of: 'classic' }

/** Runs a scenario on all databases, and compares the results with the given ones. */
function gap(name, scenario, expected) {
  for (const [kind, { make, of }] of [['classic', classic], ...ours]) {
    test(`${name} (${kind})`, async (t) => {
      const db = make(t)
      await db.open()

      try {
        assert.deepEqual(await scenario(db, t), expected[of])
      } finally {
        await db.close()
      }
    })
  }
}

/** The keys that a function of a sublevel, or of the root, sees while `write` runs. */
async function seen(space, write) {
  const keys = []
  space.hooks.prewrite.add((operation) => keys.push(String(operation.key)), { everyWrite: true })
  await write()
  return keys
}

async function openSublevel(db, name) {
  const sublevel = db.sublevel(name)
  await sublevel.open()
  return sublevel
}

gap(
  'writes through another object of the same sublevel pass its hooks by',
  (db) => seen(db.sublevel('a'), () => db.sublevel('a').put('k', 'v')),
  { classic: [], terrace: ['k'] }
)

gap(
  'writes to a sublevel made by an array of names pass the hooks between by',
  (db) => seen(db.sublevel('a'), () => db.sublevel(['a', 'b']).put('k', 'v')),
  { classic: [], terrace: ['!b!k'] }
)

gap(
  'operations with the option sublevel pass its hooks by',
  (db) => {
    const a = db.sublevel('a')
    return seen(a, () => db.batch([{ type: 'put', key: 'k', value: 'v', sublevel: a }]))
  },
  { classic: [], terrace: ['k'] }
)

gap(
  'operations of a chained batch with the option sublevel pass its hooks by',
  async (db) => {
    const a = await openSublevel(db, 'a')
    return seen(a, () => db.batch().put('k', 'v', { sublevel: a }).del('l', { sublevel: a }).write())
  },
  { classic: [], terrace: ['k', 'l'] }
)

gap(
  'what another sublevel’s hook adds passes the hooks by',
  (db) => {
    const a = db.sublevel('a')
    db.sublevel('b')
    db.hooks.prewrite.add((operation, batch) => {
      if (operation.key === 'k') batch.add({ type: 'put', key: 'added', value: 'v', sublevel: a })
    })
    return seen(a, () => db.put('k', 'v'))
  },
  { classic: [], terrace: ['added'] }
)

gap(
  'hooks of a sublevel see operations on another one that are written through it',
  async (db) => {
    const a = await openSublevel(db, 'a')
    return seen(a, () => a.batch([{ type: 'put', key: 'k', value: 'v', sublevel: db.sublevel('b') }]))
  },
  { classic: ['k'], terrace: [] }
)

gap(
  'clear() passes hooks by',
  async (db) => {
    await db.put('k', 'v')
    return seen(db, () => db.clear())
  },
  { classic: [], terrace: ['k'] }
)

gap(
  'a hook does not read the earlier operations of its batch',
  async (db) => {
    const read = []
    db.hooks.prewrite.add(() => read.push(db.getSync('k')))
    await db.batch([
      { type: 'put', key: 'k', value: 'v' },
      { type: 'del', key: 'k' }
    ])
    return read
  },
  { classic: [undefined, undefined], terrace: [undefined, 'v'] }
)

gap(
  'a hook does not read writes that were called before but are not done',
  async (db) => {
    db.hooks.prewrite.add((_, batch) => {
      batch.add({ type: 'put', key: 'count', value: String(Number(db.getSync('count') ?? 0) + 1) })
    })
    await Promise.all(Array.from({ length: 10 }, (_, i) => db.put(`k${i}`, 'v', { sync: true })))
    return Number(await db.get('count')) === 10
  },
  { classic: false, terrace: true }
)

gap(
  'what a hook read for a chained batch is stale when the batch is written',
  async (db) => {
    db.hooks.prewrite.add(
      (_, batch) => {
        batch.add({ type: 'put', key: 'count', value: String(Number(db.getSync('count') ?? 0) + 1) })
      },
      { everyWrite: true }
    )
    const batch = db.batch().put('a', 'v')
    await db.put('b', 'v')
    await batch.write()
    return db.get('count')
  },
  { classic: '1', terrace: '2' }
)

gap(
  'of an operation that a hook refuses, a chained batch writes what was added for it',
  async (db) => {
    db.hooks.prewrite.add((_, batch) => batch.add({ type: 'put', key: 'added', value: 'v' }))
    db.hooks.prewrite.add(({ key }) => {
      if (key === 'bad') throw new Error('refused')
    })
    const batch = db.batch()
    assert.throws(() => batch.put('bad', 'v'), { code: 'LEVEL_HOOK_ERROR' })
    batch.put('good', 'v')
    const { length } = batch
    await batch.write()
    return [length, (await db.keys().all()).length]
  },
  { classic: [3, 2], terrace: [2, 2] }
)

gap(
  'a hook that returns a promise is not waited for',
  async (db) => {
    db.hooks.prewrite.add(async () => {
      await nextTurn()
    })
    const code = await db.put('k', 'v').catch((error) => error.code)
    return [code, await db.get('k')]
  },
  { classic: [undefined, 'v'], terrace: ['LEVEL_HOOK_ERROR', undefined] }
)

gap(
  'an operation that a hook adds is changed, so that it cannot be added again',
  async (db) => {
    const a = db.sublevel('a')
    const operation = { type: 'put', key: 'k', value: 'v', sublevel: a }
    const run = (_, batch) => batch.add(operation)
    db.hooks.prewrite.add(run)
    await db.put('1', 'v')
    await db.put('2', 'v')
    return [operation.key, operation.sublevel === a]
  },
  { classic: ['!a!k', false], terrace: ['k', true] }
)

gap(
  'the options of a call are copied to what the hook of a sublevel adds',
  async (db) => {
    const a = await openSublevel(db, 'a')
    const copied = []
    a.hooks.prewrite.add((_, batch) => batch.add({ type: 'del', key: 'added' }))
    db.hooks.prewrite.add(({ key, mine }) => copied.push([key, mine]))
    await a.put('k', 'v', { mine: true })
    return copied
  },
  {
    classic: [
      ['!a!k', true],
      ['!a!added', true]
    ],
    terrace: [
      ['!a!k', true],
      ['!a!added', undefined]
    ]
  }
)

gap(
  'a listener of write that throws rejects a write that is stored',
  async (db) => {
    db.on('write', () => {
      throw new Error('of the listener')
    })
    const [uncaught, put] = await uncaughtWhile(() => db.put('k', 'v').catch((error) => error.message))
    return { uncaught, put, stored: await db.get('k') }
  },
  {
    classic: { uncaught: [], put: 'of the listener', stored: 'v' },
    terrace: { uncaught: ['of the listener'], put: undefined, stored: 'v' }
  }
)

gap(
  'a snapshot is not kept open while has() and hasMany() read from it',
  async (db, t) => {
    await db.put('k', 'v')
    const snapshot = db.snapshot()
    let references = 0
    t.mock.method(snapshot, 'ref', () => references++)
    t.mock.method(snapshot, 'unref', () => references--)
    // So many keys that no database reads them within the call.
    const reading = db.hasMany(new Array(5000).fill('k'), { snapshot })
    await null
    const during = references
    assert.equal((await reading).every(Boolean), true)
    t.mock.restoreAll()
    await snapshot.close()
    return [during > 0, references]
  },
  { classic: [false, 0], terrace: [true, 0] }
)

gap(
  'the option sublevel of put() counts only where there are hooks',
  async (db) => {
    const a = db.sublevel('a')
    await db.put('1', 'v', { sublevel: a })
    db.hooks.prewrite.add(() => {})
    await db.put('2', 'v', { sublevel: a })
    return db.keys().all()
  },
  { classic: ['!a!2', '1'], terrace: ['!a!1', '!a!2'] }
)

gap(
  'the event write has a hole for an operation on another sublevel',
  async (db) => {
    const a = await openSublevel(db, 'a')
    const events = []
    a.on('write', (operations) => events.push(operations.length, 0 in operations))
    await a.batch([{ type: 'put', key: 'k', value: 'v', sublevel: db.sublevel('b') }])
    return events
  },
  { classic: [1, false], terrace: [] }
)

gap(
  'after removeAllListeners() nobody hears of writes any more',
  async (db) => {
    const events = []
    db.removeAllListeners()
    db.on('write', (operations) => events.push(operations.length))
    await db.put('k', 'v')
    return events
  },
  { classic: [], terrace: [1] }
)

gap(
  'a sublevel has an entry that is not its own: the first key after its prefix',
  async (db) => {
    const a = await openSublevel(db, 'a')
    await db.batch(['!a!k', '!a"'].map((key) => ({ type: 'put', key, value: 'v' })))
    const keys = await a.keys().all()
    await a.clear()
    return [keys, await db.keys().all()]
  },
  { classic: [['k', ''], []], terrace: [['k'], ['!a"']] }
)

gap(
  'a sublevel that nobody knows any more is kept until the database is closed',
  async (db) => {
    const reference = await (async () => {
      const lost = db.sublevel('a')
      await lost.put('k', 'v')
      return new WeakRef(lost)
    })()

    for (let round = 0; round < 10 && reference.deref() !== undefined; round++) {
      await nextTurn()
      globalThis.gc()
    }

    return reference.deref() === undefined
  },
  { classic: false, terrace: true }
)

/** The uncaught errors while `work` runs, and its result. */
async function uncaughtWhile(work) {
  const uncaught = []
  const before = process.rawListeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => uncaught.push(error.message))

  try {
    const result = await work()
    await nextTurn()
    return [uncaught, result]
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
  }
}

// Random histories of writes: every way of writing, with hook functions that add, read, refuse and call other writes, in any
// order and from any microtask. Each history must end, and leave the data of a model.

import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { FAILURE } from './array-backend.js'
import { outcomes } from './history-model.js'
import { randomOf } from './random.js'

/** The errors of reads that were disturbed by other calls. */
const READ_REFUSED = new RegExp(`_NOT_OPEN$|^${FAILURE}$`)

/**
 * Runs one history. Rejects if a promise stays unsettled, or if the stored data differs from the model.
 *
 * @param db - Empty, not yet open. What it cannot do, according to `supports`, is left out.
 * @param calm - Called when nothing should fail any more.
 */
export async function runHistory(seed, db, calm = () => {}) {
  const history = new History(seed, db, calm)
  let timer

  try {
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`it does not end: ${history.unsettled()}`)), HANG_MS)
    })
    await Promise.race([history.run(), late])
  } catch (error) {
    throw new Error(`history ${seed}: ${error.message}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }

  return history.calls.length
}

class History {
  /** The calls, in this order: `{ via, operations, range, ending }`; see `outcomes`. */
  calls = []
  #random
  #db
  #calm
  #spaces
  #hooks
  #waiting = []
  #isClosing = false
  /** Sublevels that are being closed, or are closed. */
  #closed = new Set()
  #number = 0

  constructor(seed, db, calm) {
    this.#random = randomOf(seed)
    this.#db = db
    this.#calm = calm
  }

  async run() {
    const db = this.#db
    await db.open()
    this.#spaces = { db, a: db.sublevel('a'), b: db.sublevel('b'), index: db.sublevel('index') }
    await Promise.all(Object.values(this.#spaces).map((space) => space.open()))
    await this.#addHooks()

    const steps = 5 + this.#below(40)
    const closeAt = this.#below(3) === 0 ? this.#below(steps) : -1

    for (let step = 0; step < steps; step++) {
      if (step === closeAt) this.#close()
      if (this.#below(25) === 0) await this.#reopen(this.#pick(['a', 'b']))
      this.#step()
      await this.#pause()
    }

    this.#close()
    await this.#settled()
    this.#calm()
    await db.open()
    const found = await db.iterator().all()
    await db.close()
    const possible = [...outcomes(this.calls, this.#hooks)]
    if (!possible.some((entries) => isDeepStrictEqual(found, entries))) assert.deepEqual(found, possible[0])
  }

  unsettled() {
    const { calls } = this
    return JSON.stringify(
      calls.filter(({ ending }) => ending === undefined).map(({ via, name }) => [via, name])
    )
  }

  /** Closes a sublevel, amid other writes, and opens it again. */
  async #reopen(via) {
    if (this.#isClosing) return
    const space = this.#spaces[via]
    this.#closed.add(via)
    this.#waiting.push(space.close())

    for (let steps = this.#below(4); steps > 0; steps--) {
      this.#step()
      await microtasks(this.#below(20))
    }

    await space.open()
    this.#closed.delete(via)
  }

  /** Waits for all promises, including those of writes that hook functions call meanwhile. */
  async #settled() {
    while (this.#waiting.length > 0) await Promise.all(this.#waiting.splice(0))
  }

  async #addHooks() {
    const { db, a } = this.#spaces
    // Functions of objects, a function that keeps an index of a, one that only watches, and listeners.
    const maybe = () => this.#below(2) === 0
    this.#hooks = { db: maybe(), a: maybe(), index: maybe() && db.supports.getSyncInHooks }
    for (const name of ['db', 'a']) if (this.#hooks[name]) this.#addFunction(name, this.#spaces[name])
    if (this.#hooks.index) await this.#addIndex()
    if (maybe()) db.hooks.prewrite.add((operation) => this.#callFor(operation, 'del'), { everyWrite: true })
    if (maybe()) db.on('write', () => {})
    if (maybe()) a.on('write', (operations) => assert.ok(operations.length > 0))
  }

  /** A function without everyWrite, which adds, refuses, and calls other writes. */
  #addFunction(name, space) {
    space.hooks.prewrite.add((operation, batch) => {
      const own = ownKey(operation.key)
      this.#callFor(operation, 'put')
      if (operation.type !== 'put') return
      if (own.startsWith('refused')) throw new Error('refused')
      if (own.startsWith('add')) batch.add({ type: 'put', key: `by ${name} ${own}`, value: operation.value })
    })
  }

  /** A function with everyWrite, which reads, and adds in step. */
  async #addIndex() {
    const { db, index } = this.#spaces
    // A separate object, which stays open when the others are closed.
    const indexed = db.sublevel('a')
    await indexed.open()
    indexed.hooks.prewrite.add(
      ({ type, key, value }, batch) => {
        if (type === 'put' && ownKey(key).startsWith('unindexed')) throw new Error('not indexed')
        const old = indexed.getSync(key)
        if (old !== undefined) batch.add({ type: 'del', key: `${old} ${key}`, sublevel: index })
        if (type === 'put') batch.add({ type: 'put', key: `${value} ${key}`, value: '', sublevel: index })
      },
      { everyWrite: true }
    )
  }

  /** Calls another write, without waiting for it, if the key begins with `call`. */
  #callFor({ type, key }, onType) {
    if (type !== onType || !ownKey(key).startsWith('call')) return
    const kind = this.#below(6)
    if (kind === 0) this.#clear('b', {})
    else if (kind === 1) this.#chained('b', [this.#operation(['late'])])
    else if (kind === 2) this.#refuseSync()
    else this.#array(this.#below(2) === 0 ? 'db' : 'a', 'put', [this.#operation(['late', 'add'], 'put')])
  }

  /** Within a hook function, synchronous writes throw. */
  #refuseSync() {
    assert.throws(() => this.#db.putSync('k', 'v'), { code: /LEVEL_NOT_SUPPORTED|LEVEL_DATABASE_NOT_OPEN/ })
  }

  #step() {
    const via = this.#pick(['db', 'db', 'a', 'a', 'b'])
    const kind = this.#below(14)
    const kinds = ['k', 'k', 'k', 'add', 'refused', 'unindexed', 'call', 'call', 'invalid']

    if (kind < 3) this.#array(via, 'put', [this.#operation(kinds, 'put')])
    else if (kind === 3) this.#array(via, 'del', [this.#operation(['k', 'add', 'call'], 'del')])
    else if (kind < 6) this.#array(via, 'batch', this.#operations(kinds))
    else if (kind < 8) this.#sync(via)
    else if (kind < 10) this.#chained(via, this.#operations(kinds))
    else if (kind < 12) this.#clearThenSync(via)
    else if (kind === 12) this.#unencodable(via)
    else this.#read(via)
  }

  #operations(kinds) {
    return Array.from({ length: 1 + this.#below(4) }, () => {
      const operation = this.#operation(kinds)
      return this.#below(4) === 0 ? { ...operation, sublevel: this.#pick(['a', 'b']) } : operation
    })
  }

  #operation(kinds, type = this.#pick(['put', 'put', 'del'])) {
    const kind = this.#pick(kinds)
    const key = kind === 'invalid' ? null : `${kind}${this.#below(4)}`
    return type === 'put' ? { type, key, value: `v${this.#number++}` } : { type, key }
  }

  #options() {
    return { sync: this.#below(5) === 0 }
  }

  /** An operation as the database takes it. */
  #given(operation) {
    const { sublevel } = operation
    return sublevel === undefined ? operation : { ...operation, sublevel: this.#spaces[sublevel] }
  }

  #array(via, name, operations) {
    const space = this.#spaces[via]
    const [first] = operations
    const options = this.#options()
    const call = this.#note({ via, name, operations })
    if (name === 'put') this.#wait(call, space.put(first.key, first.value, options))
    else if (name === 'del') this.#wait(call, space.del(first.key, options))
    else
      this.#wait(
        call,
        space.batch(
          operations.map((each) => this.#given(each)),
          options
        )
      )
  }

  /** A value that its encoding refuses. */
  #unencodable(via) {
    const call = this.#note({ via, name: 'put', operations: [], refusal: 'TypeError' })
    this.#wait(call, this.#spaces[via].put('k1', 1n, { valueEncoding: 'json' }))
  }

  #sync(via) {
    const operations = this.#operations(['k', 'k', 'add', 'refused', 'unindexed', 'call'])
    if (!this.#db.supports.additionalMethods.batchSync) {
      this.#array(via, 'batch', operations)
      return
    }

    const call = this.#note({ via, name: 'batchSync', operations })
    try {
      this.#spaces[via].batchSync(
        operations.map((each) => this.#given(each)),
        this.#options()
      )
      call.ending = 'done'
    } catch (error) {
      this.#fail(call, error)
    }
  }

  #chained(via, operations) {
    const space = this.#spaces[via]
    let batch
    try {
      batch = space.batch()
    } catch (error) {
      assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN')
      return
    }

    const taken = []
    for (const operation of operations) {
      const { type, key, value, sublevel } = this.#given(operation)
      try {
        if (type === 'put') batch.put(key, value, { sublevel })
        else batch.del(key, { sublevel })
        taken.push(operation)
      } catch (error) {
        assert.match(error.code, /LEVEL_HOOK_ERROR|LEVEL_INVALID_KEY/)
      }
    }

    const way = this.#below(8)
    if (way === 0) {
      this.#waiting.push(batch.close())
      return
    }

    if (way === 1) {
      batch.clear()
      taken.length = 0
    }

    this.#wait(this.#note({ via, name: 'chained batch', operations: taken }), batch.write(this.#options()))
  }

  #clearThenSync(via) {
    const range = this.#below(2) === 0 ? {} : { gte: `k${this.#below(4)}` }
    const cleared = this.#clear(via, range)
    if (this.#below(2) === 0) return

    // Continues in one of the microtasks around its end.
    const after = cleared
      .then(() => microtasks(this.#below(8)))
      .then(() => this.#sync(this.#pick(['db', 'a', 'b'])))
    this.#waiting.push(after)
    if (this.#below(2) === 0) this.#waiting.push(microtasks(this.#below(60)).then(() => this.#sync('a')))
  }

  #clear(via, range) {
    return this.#wait(this.#note({ via, name: 'clear', range }), this.#spaces[via].clear(range))
  }

  #read(via) {
    const space = this.#spaces[via]
    const reads = [
      () => space.get('k1'),
      () => space.keys().all(),
      () => space.has('k2'),
      () => this.#snapshotRead()
    ]
    this.#waiting.push(
      Promise.resolve()
        .then(this.#pick(reads))
        .catch((error) => assert.match(error.code, READ_REFUSED))
    )
  }

  async #snapshotRead() {
    const snapshot = this.#db.snapshot()
    await this.#db.getMany(['k1', 'k2'], { snapshot })
    await snapshot.close()
  }

  #close() {
    this.#isClosing = true
    this.#waiting.push(this.#db.close())
  }

  #note(call) {
    this.calls.push(call)
    call.isLate = this.#isClosing || this.#closed.has(call.via)
    return call
  }

  #wait(call, promise) {
    const ended = promise.then(
      () => {
        call.ending = 'done'
      },
      (error) => this.#fail(call, error)
    )
    this.#waiting.push(ended)
    return ended
  }

  #fail(call, error) {
    // A hook function that runs while the database closes may find that what it reads is closed, or reading may fail.
    const { code } = ['LEVEL_DATABASE_NOT_OPEN', FAILURE].includes(error.cause?.code) ? error.cause : error
    const codes = ['LEVEL_HOOK_ERROR', 'LEVEL_INVALID_KEY', FAILURE]
    if (call.isLate) codes.push('LEVEL_DATABASE_NOT_OPEN', 'LEVEL_BATCH_NOT_OPEN')
    const ending = code ?? error.name
    if (!codes.includes(ending) && ending !== call.refusal) throw error
    call.ending = ending
  }

  async #pause() {
    const kind = this.#below(12)
    if (kind < 6) return
    if (kind < 10) await microtasks(this.#below(30))
    else if (kind === 10) await nextTurn()
    else await this.#settled()
  }

  #below(end) {
    return Math.floor(this.#random() * end)
  }

  #pick(from) {
    return from[this.#below(from.length)]
  }
}

/** A key without the prefixes of sublevels. */
export function ownKey(key) {
  return key.slice(key.lastIndexOf('!') + 1)
}

async function microtasks(count) {
  for (let i = 0; i < count; i++) await null
}

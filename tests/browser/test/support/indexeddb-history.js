// A history at random of a database beside a model, for pages and workers. Writes are not waited for, so a view of the database may
// show any state between the last write that was acknowledged and the last that was called; but it must show one, and always the same.

/** Few, so that most writes replace something. Hexadecimal text sorts as the bytes do. */
const KEYS = [
  '',
  '00',
  '01',
  'ff',
  '00ff',
  '0100',
  '7f7f7f',
  'fe',
  'ff00',
  'ffff',
  'ffffff',
  '01ff01',
  '80',
  '8000'
]

const ENCODINGS = { keyEncoding: 'hex', valueEncoding: 'utf8' }

/** Runs a history. Returns how many reads were checked; rejects with what differs. */
export async function runHistory(IndexedDbLevel, seed, steps) {
  const db = new IndexedDbLevel(`history ${seed} ${crypto.randomUUID()}`, ENCODINGS)
  await db.open()
  const history = new History(db, seed)
  try {
    for (let step = 0; step < steps; step++) await history.step()
    await history.end()
    return history.checks
  } catch (error) {
    throw new Error(`history ${seed}: ${error.stack}`)
  }
}

class History {
  checks = 0
  #db
  #random
  /** All states, from the empty one on: objects of values by key. */
  #states = [{}]
  #acknowledged = 0
  #pending = []
  #views = []
  #number = 0

  constructor(db, seed) {
    this.#db = db
    this.#random = randomOf(seed)
  }

  async step() {
    const kind = this.#below(20)
    if (kind < 7) this.#write(this.#operations())
    else if (kind === 7) this.#clear()
    else if (kind < 10 && this.#views.length < 6) this.#open()
    else if (kind === 10) await this.#close()
    else if (kind < 18 && this.#views.length > 0) await this.#read(this.#pick(this.#views))
    else await this.#pause()
  }

  async end() {
    await Promise.all(this.#pending)
    for (const view of this.#views) await this.#read(view)
    const expected = entriesOf(this.#states.at(-1), {})
    const found = await this.#db.iterator().all()
    if (!isSame(found, expected)) throw new Error(`left ${JSON.stringify([found, expected])}`)
    await this.#db.close()
  }

  #below(limit) {
    return Math.floor(this.#random() * limit)
  }

  #pick(list) {
    return list[this.#below(list.length)]
  }

  #pause() {
    const kind = this.#below(3)
    if (kind === 0) return new Promise((resolve) => setTimeout(resolve))
    return kind === 1 ? Promise.all(this.#pending) : null
  }

  #operations() {
    return Array.from({ length: 1 + this.#below(4) }, () => {
      const key = this.#pick(KEYS)
      return this.#below(3) === 0
        ? { type: 'del', key }
        : { type: 'put', key, value: `${this.#number++} ${'x'.repeat(this.#below(200))}` }
    })
  }

  #write(operations) {
    const next = { ...this.#states.at(-1) }
    for (const { type, key, value } of operations) {
      if (type === 'put') next[key] = value
      else delete next[key]
    }
    this.#call(next, this.#db.batch(operations, { sync: this.#below(8) === 0 }))
  }

  #clear() {
    const options = { ...this.#range(), reverse: this.#below(2) === 0 }
    if (this.#below(2) === 0) options.limit = 1 + this.#below(4)
    // A snapshot whose state is known for certain.
    const certain = this.#views.filter(({ snapshot, candidates }) => snapshot && candidates.length === 1)
    const view = this.#below(2) === 0 ? this.#pick(certain) : undefined
    const next = { ...this.#states.at(-1) }
    const deleted = entriesOf(view?.candidates[0] ?? next, options).slice(0, options.limit)
    for (const [key] of deleted) delete next[key]
    this.#call(next, this.#db.clear({ ...options, snapshot: view?.snapshot }))
  }

  #call(next, write) {
    const number = this.#states.push(next) - 1
    const acknowledged = write.then(() => {
      // Earlier ones have taken effect as well.
      this.#acknowledged = Math.max(this.#acknowledged, number)
    })
    this.#pending.push(acknowledged)
  }

  #range() {
    const range = {}
    if (this.#below(2) === 0) range[this.#pick(['gt', 'gte'])] = this.#pick(KEYS)
    if (this.#below(2) === 0) range[this.#pick(['lt', 'lte'])] = this.#pick(KEYS)
    return range
  }

  /** Opens a snapshot or an iterator. */
  #open() {
    const candidates = this.#states.slice(this.#acknowledged)
    const range = { ...this.#range(), reverse: this.#below(2) === 0 }
    if (this.#below(2) === 0) this.#views.push({ candidates, snapshot: this.#db.snapshot() })
    else this.#views.push({ candidates, range, taken: [], iterator: this.#db.iterator(range) })
  }

  async #close() {
    const [view] = this.#views.splice(this.#below(this.#views.length), 1)
    await view?.snapshot?.close()
    await view?.iterator?.close()
  }

  async #read(view) {
    const expected = view.iterator ? await this.#readIterator(view) : await this.#readSnapshot(view)
    this.checks++
    const { candidates } = view
    view.candidates = candidates.filter(expected)
    if (view.candidates.length === 0) {
      throw new Error(
        `${view.iterator ? 'an iterator' : 'a snapshot'} shows none of ${candidates.length} states`
      )
    }
  }

  async #readIterator(view) {
    const { iterator, range, taken } = view
    const kind = this.#below(5)
    if (kind === 0) {
      view.target = this.#pick(KEYS)
      taken.length = 0
      iterator.seek(view.target)
      return () => true
    }
    const isAll = kind === 1
    taken.push(...(isAll ? await rest(iterator) : await iterator.nextv(1 + this.#below(5))))
    const { target } = view
    return (state) => {
      const entries = entriesOf(state, range, target)
      return isSame(taken, isAll ? entries : entries.slice(0, taken.length))
    }
  }

  async #readSnapshot({ snapshot }) {
    const kind = this.#below(4)
    const keys = Array.from({ length: 4 }, () => this.#pick(KEYS))
    if (kind === 0) {
      const found = await Promise.all(keys.map((key) => this.#db.get(key, { snapshot })))
      return (state) => keys.every((key, i) => state[key] === found[i])
    }
    if (kind === 1) {
      const found = await this.#db.hasMany(keys, { snapshot })
      return (state) => keys.every((key, i) => key in state === found[i])
    }
    const range = { ...this.#range(), reverse: this.#below(2) === 0 }
    if (kind === 2) {
      const found = await this.#db.keys({ ...range, snapshot }).all()
      return (state) =>
        isSame(
          found,
          entriesOf(state, range).map(([key]) => key)
        )
    }
    const found = await this.#db.iterator({ ...range, snapshot }).all()
    return (state) => isSame(found, entriesOf(state, range))
  }
}

/** What an iterator has left. It stays open. */
async function rest(iterator) {
  const entries = []
  for (let page = await iterator.nextv(1000); page.length > 0; page = await iterator.nextv(1000)) {
    entries.push(...page)
  }
  return entries
}

function entriesOf(state, range, target) {
  const { gt, gte, lt, lte, reverse } = range
  const isWithin = (key) =>
    (gte !== undefined ? key >= gte : gt === undefined || key > gt) &&
    (lte !== undefined ? key <= lte : lt === undefined || key < lt)
  if (target !== undefined && !isWithin(target)) return []
  const isReached = (key) => target === undefined || (reverse ? key <= target : key >= target)
  const entries = Object.entries(state)
    .filter(([key]) => isWithin(key) && isReached(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return reverse ? entries.reverse() : entries
}

const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** Numbers from 0 up to 1 that follow from the seed: mulberry32. */
function randomOf(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

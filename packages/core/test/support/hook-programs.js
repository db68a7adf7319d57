// Random programs of hooks, listeners and writes, which run on any database of abstract-level. Their trace records what
// every function saw, in which order, what listeners received, how calls ended, and what was stored.
//
// They leave out what `hooks-gaps.test.js` shows: our class does not follow upstream where upstream contradicts itself.

import { randomOf } from './random.js'

/** Runs the program of a seed on an open database, and returns its trace. */
export async function runProgram(db, seed, encodings) {
  const program = new Program(db, seed, encodings)
  await program.run()
  return program.trace
}

class Program {
  trace = []
  #random
  #db
  #encodings
  #spaces = []
  #number = 0

  constructor(db, seed, encodings) {
    this.#db = db
    this.#random = randomOf(seed)
    this.#encodings = encodings
  }

  async run() {
    const db = this.#db
    if (this.#below(3) === 0) this.#addPlugIn()
    const a = this.#sublevel(db, 'a')
    const b = this.#sublevel(db, 'b')
    const c = this.#sublevel(a, 'c')
    const d = this.#sublevel(db, ['a', 'd'])
    const names = { db, a, b, c, d }
    for (const [name, space] of Object.entries(names)) this.#spaces.push({ name, space })
    await Promise.all(this.#spaces.map(({ space }) => space.open()))

    for (const { name, space } of this.#spaces) {
      for (let i = this.#below(3); i > 0; i--) this.#addFunction(`${name}${i}`, space)
      if (this.#below(3) === 0) this.#listen(name, space)
    }

    for (let step = 0; step < 15; step++) await this.#step()
    this.trace.push(await db.iterator().all())
  }

  /** The plug-in of abstract-level's documentation. */
  #addPlugIn() {
    const { trace } = this
    function logger(db) {
      db.hooks.newsub.add(logger)
      db.hooks.prewrite.add((op) => {
        trace.push(['plug-in', shown(op)])
      })
    }
    logger(this.#db)
  }

  #sublevel(parent, name) {
    const [keyEncoding, valueEncoding] = [this.#pick(this.#encodings), this.#pick(this.#encodings)]
    return parent.sublevel(name, { keyEncoding, valueEncoding })
  }

  #addFunction(name, space) {
    const kind = this.#below(6)
    const target = this.#pick(this.#spaces).space
    space.hooks.prewrite.add((op, batch) => {
      this.trace.push([name, shown(op)])
      if (kind === 0) op.note = name
      if (kind === 1 && typeof op.key === 'string') op.key += '~'
      if (kind === 2 && op.type === 'put') {
        op.value = { by: name }
        op.valueEncoding = 'json'
      }
      if (kind === 3 || kind === 5) batch.add(this.#added(op, name, space))
      if (kind === 4 || kind === 5) batch.add({ ...this.#added(op, name, target), sublevel: target })
    })
  }

  /** An operation that a function adds to an object. */
  #added(op, name, target) {
    const key = encoded(target.keyEncoding(), `by ${name}`)
    return op.type === 'del'
      ? { type: 'del', key }
      : { type: 'put', key, value: encoded(target.valueEncoding(), `of ${name}`) }
  }

  #listen(name, space) {
    space.on('write', (operations) => {
      // Upstream has holes for operations on other sublevels.
      const heard = operations.filter(() => true)
      if (heard.length > 0) this.trace.push([`${name} hears`, heard.map(shown)])
    })
  }

  async #step() {
    const { name, space } = this.#pick(this.#spaces)
    // Sometimes a new object that was never used before.
    const via = name === 'a' && this.#below(3) === 0 ? this.#db.sublevel('a') : space
    await via.open()
    const kind = this.#below(6)
    this.trace.push([`call ${kind} by ${name}`])

    try {
      if (kind === 0) await via.put(...this.#entry(via))
      else if (kind === 1) await via.del(this.#entry(via)[0])
      else if (kind < 4) await via.batch(this.#operations(via))
      else if (kind === 4) await this.#chained(via)
      else await via.clear()
    } catch (error) {
      this.trace.push([error.code, error.cause?.code])
    }
  }

  async #chained(via) {
    const batch = via.batch()
    for (const { type, key, value, sublevel } of this.#operations(via)) {
      // Upstream gives the deletion of another sublevel's key the wrong prefix.
      if (type === 'put') batch.put(key, value, { sublevel })
      else batch.del(key)
      this.trace.push(['length', batch.length])
    }
    if (this.#below(5) === 0) batch.clear()
    await batch.write()
  }

  #operations(via) {
    return Array.from({ length: 1 + this.#below(4) }, () => {
      const isPut = this.#below(3) > 0
      const target = isPut && this.#below(3) === 0 ? this.#pick(this.#spaces).space : via
      const [key, value] = this.#entry(target)
      const operation = isPut ? { type: 'put', key, value } : { type: 'del', key }
      if (target !== via) operation.sublevel = target
      if (this.#below(4) === 0) operation.mine = this.#number
      return operation
    })
  }

  #entry(space) {
    const key = `k${this.#below(5)}`
    return [encoded(space.keyEncoding(), key), encoded(space.valueEncoding(), `v${this.#number++}`)]
  }

  #below(end) {
    return Math.floor(this.#random() * end)
  }

  #pick(from) {
    return from[this.#below(from.length)]
  }
}

/** Some text as data of an encoding. */
function encoded({ commonName }, text) {
  if (commonName === 'json') return [text]
  return commonName === 'buffer' || commonName === 'view' ? Buffer.from(text) : text
}

/** An operation in comparable form. */
function shown({ keyEncoding, valueEncoding, sublevel, ...others }) {
  const plain = Object.entries(others).map(([name, value]) => [name, plainOf(value)])
  return {
    ...Object.fromEntries(plain),
    keyEncoding: keyEncoding.commonName,
    // If a function of the same object named the encoding, upstream has not resolved it to an object yet.
    valueEncoding: valueEncoding?.commonName ?? valueEncoding,
    sublevel: sublevel?.prefix
  }
}

function plainOf(value) {
  return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('latin1')}` : value
}

// Any target becomes any source: overwriting, with all sizes of batches and of reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { copy } from 'terrace-toolbox/copy'
import { scaled } from '../../../../tests/support/form.mjs'
import { databases } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { all, fill } from './support.js'

const ROUNDS = scaled(60)

/** Up to 300 entries with short keys, which therefore meet, and values of four kinds. */
function randomEntries(pick) {
  const entries = new Map()
  for (let count = pick(300); count > 0; count--) {
    const key = Buffer.from(Array.from({ length: pick(4) }, () => [0, 33, 115, 116, 117, 255][pick(6)]))
    entries.set(key.toString('latin1'), [key, Buffer.alloc(pick(4), pick(2))])
  }
  return [...entries.values()].sort(([a], [b]) => Buffer.compare(a, b))
}

/** How many entries differ, and how many only `to` has. */
function difference(from, to) {
  const values = new Map(to.map(([key, value]) => [key.toString('latin1'), value]))
  let written = 0
  for (const [key, value] of from) {
    const found = values.get(key.toString('latin1'))
    if (found === undefined || !found.equals(value)) written++
    values.delete(key.toString('latin1'))
  }
  return { written, deleted: values.size }
}

/** A database that answers reads in pieces of any size, as databases may. */
class InPieces extends MemoryLevel {
  constructor(pick) {
    super()
    this.pick = pick
  }

  iterator(options) {
    const iterator = super.iterator(options)
    const { nextv } = iterator
    iterator.nextv = (size) => nextv.call(iterator, Math.min(size, 1 + this.pick(20)))
    return iterator
  }
}

for (const [name, open] of Object.entries({
  ...databases,
  'a database that answers in pieces': async (_t, pick) => new InPieces(pick)
})) {
  test(`${name}: overwriting at random makes the target equal the source, and writes no more than that takes`, async (t) => {
    const pick = randomNumbers(46)
    const [from, to] =
      name in databases ? [await open(t), await open(t)] : [await open(t, pick), await open(t, pick)]
    for (let round = 0; round < ROUNDS; round++) {
      const [source, target] = [randomEntries(pick), randomEntries(pick)]
      for (const [db, entries] of [
        [from, source],
        [to, target]
      ]) {
        await db.clear()
        await fill(db, entries)
      }
      const batchSize = 1 + pick(40)
      const { written, deleted } = await copy(from, to, { existing: 'overwrite', batchSize })
      assert.deepEqual({ written, deleted }, difference(source, target), `round ${round}`)
      assert.deepEqual(await all(to), source, `round ${round}`)
    }
  })
}

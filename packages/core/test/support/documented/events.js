// What abstract-level documents elsewhere about hooks: chained batches and the event `write`.

import assert from 'node:assert/strict'
import { keysOf, put } from './helpers.js'

/** @param documented - Takes sentences, word for word, and a test of each. */
export function eventsAndBatches(documented) {
  documented(
    'The number of operations in this chained batch, including operations that were added by [`prewrite`](#hook--dbhooksprewrite) hook functions if any.',
    (db) => {
      db.hooks.prewrite.add((_, batch) => batch.add(put('added')))
      const batch = db.batch().put('a', 'v').del('b')
      assert.equal(batch.length, 4)
      assert.equal(batch.clear().length, 0)
      return batch.close()
    }
  )

  documented(
    [
      'Emitted when data was successfully written to the database as the result of `db.batch()`, `db.put()` or `db.del()`.',
      'The array will contain at least one operation object and reflects modifications made (and operations added) by the [`prewrite`](#hook--dbhooksprewrite) hook.',
      "Normalized means that every operation object has `keyEncoding` and (if `type` is `'put'`) `valueEncoding` properties and these are always encoding objects, rather than their string names like `'utf8'` or whatever was given in the input.",
      'Operation objects also include userland options that were provided in the `options` argument of the originating call, for example the `options` in a `db.put(key, value, options)` call:',
      "To provide access to encoded data, the operation object additionally has `encodedKey` and (if `type` is `'put'`) `encodedValue` properties."
    ],
    async (db) => {
      const events = []
      db.on('write', (operations) => events.push(operations))
      db.hooks.prewrite.add((op, batch) => {
        op.key += '!'
        batch.add({ type: 'del', key: 'added', keyEncoding: 'utf8' })
      })
      await db.put('abc', { n: 1 }, { foo: true, valueEncoding: 'json' })
      assert.deepEqual(events[0], [
        {
          type: 'put',
          key: 'abc!',
          value: { n: 1 },
          foo: true,
          keyEncoding: db.keyEncoding('utf8'),
          valueEncoding: db.valueEncoding('json'),
          encodedKey: db.keyEncoding('utf8').encode('abc!'),
          encodedValue: db.valueEncoding('json').encode({ n: 1 })
        },
        {
          type: 'del',
          key: 'added',
          keyEncoding: db.keyEncoding('utf8'),
          encodedKey: db.keyEncoding('utf8').encode('added')
        }
      ])
    }
  )

  documented(
    'Lastly, newly added `write` event listeners are only called for subsequently created batches (including chained batches):',
    async (db) => {
      const late = (written) => {
        const heard = []
        const listen = () => heard.push(1)
        db.on('write', listen)
        return written.then(() => {
          db.off('write', listen)
          return heard.length
        })
      }
      assert.equal(await late(db.batch([{ type: 'del', key: 'abc' }])), 0)
      assert.equal(await late(db.put('abc', 'v')), 0)
      const batch = db.batch().put('a', 'v')
      db.hooks.prewrite.add(() => {})
      assert.equal(await late(db.put('abc', 'v')), 0)
      // This also tests one that waits for an earlier one.
      const first = db.put('abc', 'v', { sync: true })
      assert.equal(await late(Promise.all([first, db.put('abc', 'v')])), 0)
      const heard = []
      db.on('write', () => heard.push(1))
      await batch.write()
      assert.deepEqual(heard, [])
    }
  )

  documented('For the event listener to be called it must be added earlier:', async (db) => {
    const heard = []
    db.on('write', (operations) => heard.push(...keysOf(operations)))
    await db.batch([{ type: 'del', key: 'abc' }])
    await db.put('def', 'v')
    await db.batch().del('ghi').write()
    assert.deepEqual(heard, ['abc', 'def', 'ghi'])
  })
}

// What abstract-level documents about hooks in general, and about the hook `prewrite`.

import assert from 'node:assert/strict'
import { keysOf, note, put } from './helpers.js'

/** @param documented - Takes sentences, word for word, and a test of each. */
export function prewriteHooks(documented) {
  documented(
    'Hooks allow userland _hook functions_ to customize behavior of the database. Each hook is a different extension point, accessible via `db.hooks`.',
    (db) => assert.ok(db.hooks.prewrite && db.hooks.postopen && db.hooks.newsub)
  )

  documented(
    'A hook is either synchronous or asynchronous, and functions added to a hook must respect that trait.',
    async (db) => {
      const seen = note(db)
      const pending = db.put('a', 'v')
      assert.deepEqual(keysOf(seen), ['a'])
      await pending
    }
  )

  documented(
    'A synchronous hook for modifying or adding operations to [`db.batch([])`](#dbbatchoperations-options), [`db.batch().put()`](#chainedbatchputkey-value-options), [`db.batch().del()`](#chainedbatchdelkey-options), [`db.put()`](#dbputkey-value-options) and [`db.del()`](#dbdelkey-options) calls.',
    async (db) => {
      const seen = note(db)
      await db.batch([put('a'), { type: 'del', key: 'b' }])
      const batch = db.batch()
      batch.put('c', 'v')
      assert.deepEqual(keysOf(seen), ['a', 'b', 'c'])
      await batch.del('d').write()
      await db.put('e', 'v')
      await db.del('f')
      assert.deepEqual(keysOf(seen), ['a', 'b', 'c', 'd', 'e', 'f'])
    }
  )

  documented(
    'It does not include [`db.clear()`](#dbclearoptions) because the entries deleted by such a call are not communicated back to `db`.',
    async (db) => {
      const sub = db.sublevel('sub')
      await db.batch([put('a'), put('b', 'v', { sublevel: sub })])
      const seen = [note(db), note(sub)]
      await sub.clear()
      await db.clear()
      assert.deepEqual(seen, [[], []])
    }
  )

  documented('Functions added to this hook will receive two arguments: `op` and `batch`.', async (db) => {
    let received
    db.hooks.prewrite.add((...args) => {
      received = args
    })
    await db.put('a', 'v')
    assert.equal(received.length, 2)
    assert.equal(received[0].key, 'a')
    assert.equal(typeof received[1].add, 'function')
  })

  documented('// Will atomically commit it to the author index as well', async (db) => {
    const books = db.sublevel('books', { valueEncoding: 'json' })
    const index = db.sublevel('authors', { keyEncoding: 'json' })
    books.hooks.prewrite.add((op, batch) => {
      if (op.type === 'put') {
        batch.add({ type: 'put', key: [op.value.author, op.key], value: '', sublevel: index })
      }
    })
    await books.put('12', { title: 'Siddhartha', author: 'Hesse' })
    assert.deepEqual(await index.keys().all(), [['Hesse', '12']])
    assert.deepEqual(await books.get('12'), { title: 'Siddhartha', author: 'Hesse' })
  })

  documented(
    "The `op` argument reflects the input operation and has the following properties: `type`, `key`, `keyEncoding`, an optional `sublevel`, and if `type` is `'put'` then also `value` and `valueEncoding`.",
    async (db) => {
      const sub = db.sublevel('sub', { valueEncoding: 'json' })
      const seen = note(db)
      await db.batch([put('a', 'v'), put('b', [1], { sublevel: sub }), { type: 'del', key: 'c' }])
      assert.deepEqual(seen, [
        put('a', 'v', { keyEncoding: db.keyEncoding('utf8'), valueEncoding: db.valueEncoding('utf8') }),
        put('b', [1], {
          sublevel: sub,
          keyEncoding: sub.keyEncoding('utf8'),
          valueEncoding: sub.valueEncoding('json')
        }),
        { type: 'del', key: 'c', keyEncoding: db.keyEncoding('utf8') }
      ])
    }
  )

  documented(
    'It can also include userland options, that were provided either in the input operation object (if it originated from [`db.batch([])`](#db_batchoperations-options)) or in the `options` argument of the originating call, for example the `options` in `db.del(key, options)`.',
    async (db) => {
      const seen = note(db)
      await db.batch([put('a', 'v', { mine: 1 })], { ours: 2 })
      await db.put('b', 'v', { mine: 3 })
      await db.del('c', { mine: 4 })
      await db.batch().put('d', 'v', { mine: 5 }).del('e', { mine: 6 }).write()
      assert.deepEqual(
        seen.map(({ mine, ours }) => [mine, ours]),
        [[1, 2], ...[3, 4, 5, 6].map((mine) => [mine, undefined])]
      )
    }
  )

  documented(
    [
      'The `key` and `value` have not yet been encoded at this point.',
      "The `keyEncoding` and `valueEncoding` properties are always encoding objects (rather than encoding names like `'json'`) which means hook functions can call (for example) `op.keyEncoding.encode(123)`."
    ],
    async (db) => {
      const seen = note(db)
      await db.put([1], { a: 2 }, { keyEncoding: 'json', valueEncoding: 'json' })
      assert.deepEqual([seen[0].key, seen[0].value], [[1], { a: 2 }])
      assert.equal(seen[0].keyEncoding.encode(123), '123')
      assert.equal(seen[0].valueEncoding, db.valueEncoding('json'))
    }
  )

  documented(
    'Hook functions can modify the `key`, `value`, `keyEncoding` and `valueEncoding` properties, but not `type` or `sublevel`.',
    async (db) => {
      const sub = db.sublevel('sub')
      db.hooks.prewrite.add((op) => {
        op.key = [op.key]
        op.value = [op.value]
        op.keyEncoding = 'json'
        op.valueEncoding = 'json'
      })
      await db.batch([put('a'), put('b', 'v', { sublevel: sub })])
      assert.deepEqual(await db.iterator().all(), [
        ['!sub!["b"]', '["v"]'],
        ['["a"]', '["v"]']
      ])
    }
  )

  documented(
    'If a hook function modifies `keyEncoding` or `valueEncoding` it can use either encoding names or encoding objects, which will subsequently be normalized to encoding objects.',
    async (db) => {
      for (const [key, encoding] of [
        ['a', 'json'],
        ['b', db.valueEncoding('json')]
      ]) {
        const run = (op) => {
          op.valueEncoding = encoding
        }
        const heard = []
        const listen = ([operation]) => heard.push(operation.valueEncoding)
        db.hooks.prewrite.add(run)
        db.on('write', listen)
        await db.put(key, [key])
        assert.deepEqual(heard, [db.valueEncoding('json')])
        assert.equal(await db.get(key), JSON.stringify([key]))
        db.hooks.prewrite.delete(run)
        db.off('write', listen)
      }
    }
  )

  documented(
    'Hook functions can also add custom properties to `op` which will be visible to other hook functions, the private API of the database and in the [`write`](#write) event.',
    async (db) => {
      const sub = db.sublevel('sub')
      sub.hooks.prewrite.add((op) => {
        op.mine = 1
      })
      const seen = [note(sub), note(db)]
      const heard = []
      for (const space of [sub, db]) space.on('write', ([operation]) => heard.push(operation.mine))
      await sub.put('a', 'v')
      await sub.batch().put('a', 'v').write()
      assert.deepEqual(
        [seen.flat().map(({ mine }) => mine), heard],
        [
          [1, 1, 1, 1],
          [1, 1, 1, 1]
        ]
      )
    }
  )

  documented(
    [
      'The `batch` argument of the hook function is an interface to add operations, to be committed in the same batch as the input operation(s).',
      'This also works if the originating call was a singular operation like `db.put()` because the presence of one or more hook functions will change `db.put()` and `db.del()` to internally use a batch.'
    ],
    async (db) => {
      db.hooks.prewrite.add((op, batch) => batch.add(put(`added for ${op.key}`)))
      const heard = []
      db.on('write', (operations) => heard.push(keysOf(operations)))
      await db.put('a', 'v')
      await db.del('b')
      await db.batch([put('c')])
      await db.batch().put('d', 'v').write()
      assert.deepEqual(
        heard,
        ['a', 'b', 'c', 'd'].map((key) => [key, `added for ${key}`])
      )
    }
  )

  documented(
    'For originating calls like [`db.batch([])`](#dbbatchoperations-options) that provide multiple input operations, operations will be added after the last input operation, rather than interleaving.',
    async (db) => {
      db.hooks.prewrite.add((op, batch) => {
        if (op.key === 'a') batch.add(put('total', 'from hook'))
      })
      const heard = []
      db.on('write', (operations) => heard.push(keysOf(operations)))
      const input = [put('a'), put('total', 'from input')]

      await db.batch(input)
      assert.equal(await db.get('total'), 'from hook')
      await db.batch([...input].reverse())
      await db.batch().put('a', 'v').put('total', 'from input').write()
      assert.equal(await db.get('total'), 'from hook')
      assert.deepEqual(heard, [
        ['a', 'total', 'total'],
        ['total', 'a', 'total'],
        ['a', 'total', 'total']
      ])

      const sub = db.sublevel('sub')
      sub.hooks.prewrite.add((op, batch) => {
        if (op.key === 'a') batch.add(put('total', 'from hook'))
      })
      await sub.batch(input)
      assert.equal(await sub.get('total'), 'from hook')
    }
  )

  documented(
    'The hook function will not be called for operations that were added by either itself or other hook functions.',
    async (db) => {
      const seen = note(db)
      const sub = db.sublevel('sub')
      const seenBySub = note(sub)
      db.hooks.prewrite.add((_, batch) => batch.add(put('b')))
      db.hooks.prewrite.add((_, batch) => batch.add(put('c', 'v', { sublevel: sub })))
      await db.put('a', 'v')
      await db.batch([put('d')])
      assert.deepEqual([keysOf(seen), seenBySub], [['a', 'd'], []])
    }
  )

  documented(
    [
      'Add a batch operation, using the same format as the operations that [`db.batch([])`](#dbbatchoperations-options) takes.',
      'However, it is assumed that `op` can be freely mutated by `abstract-level`. Unlike input operations it will not be cloned before doing so.'
    ],
    async (db) => {
      const sub = db.sublevel('sub', { valueEncoding: 'json' })
      let given
      db.hooks.prewrite.add((_, batch) => {
        given = put('b', { n: 1 }, { sublevel: sub })
        batch.add(given)
        batch.add({ type: 'del', key: 'c' })
        batch.add(put('d', [2], { valueEncoding: 'json' }))
      })
      const input = put('a')
      await db.batch([input])
      assert.deepEqual(await db.iterator().all(), [
        ['!sub!b', '{"n":1}'],
        ['a', 'v'],
        ['d', '[2]']
      ])
      assert.notEqual(given.keyEncoding, undefined)
      assert.deepEqual(input, put('a'))
    }
  )

  documented(
    'The `add` method returns `batch` which allows for chaining, similar to the [chained batch](#chainedbatch) API.',
    async (db) => {
      db.hooks.prewrite.add((_, batch) => assert.equal(batch.add(put('b')).add(put('c')), batch))
      await db.put('a', 'v')
      assert.deepEqual(await db.keys().all(), ['a', 'b', 'c'])
    }
  )

  documented(
    'For hook functions to be generic, it is recommended to explicitly define `keyEncoding` and `valueEncoding` properties on `op` (instead of relying on database defaults) or to use an isolated sublevel with known defaults.',
    async (db) => {
      const space = db.sublevel('space', { keyEncoding: 'json', valueEncoding: 'json' })
      space.hooks.prewrite.add((_, batch) =>
        batch.add(put('b', 'text', { keyEncoding: 'utf8', valueEncoding: 'utf8' })).add(put('c', 'text'))
      )
      await space.put('a', 1)
      assert.deepEqual(await db.iterator().all(), [
        ['!space!"a"', '1'],
        ['!space!"c"', '"text"'],
        ['!space!b', 'text']
      ])
    }
  )
}

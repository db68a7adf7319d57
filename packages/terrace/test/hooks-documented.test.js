// Every sentence of abstract-level's documentation of hooks, and what it says of them elsewhere, by default. The names of the tests
// are the sentences. Each runs on memory-level, too, which shows that the test says what the sentence says.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { openLevel } from './support/databases.js'

const readme = readFileSync(createRequire(import.meta.url).resolve('abstract-level/README.md'), 'utf8')

const makers = {
  'memory-level': async (t) => {
    const db = new MemoryLevel({ storeEncoding: 'utf8' })
    await db.open()
    t.after(() => db.close())
    return db
  },
  terrace: openLevel
}

/** Tests with their sentences: what abstract-level says, word by word, and what is so. */
const said = []

function documented(sentences, run) {
  const quotes = [sentences].flat()
  said.push(...quotes)

  for (const [name, make] of Object.entries(makers)) {
    test(`${quotes.join(' ')} (${name})`, async (t) => run(await make(t), t))
  }
}

const put = (key, value = 'v', more) => ({ type: 'put', key, value, ...more })
const keysOf = (operations) => operations.map(({ key }) => key)

/** Has a hook note the operations that it sees. */
function note(db) {
  const seen = []
  db.hooks.prewrite.add((op) => seen.push({ ...op }))
  return seen
}

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

documented(
  [
    'An asynchronous hook that runs after the database has succesfully opened, but before deferred operations are executed and before events are emitted.',
    'It thus allows for additional initialization, including reading and writing data that deferred operations might need.',
    'The postopen hook always runs before the prewrite hook.'
  ],
  async (db) => {
    await db.close()
    const order = []
    db.hooks.postopen.add(async () => {
      order.push('postopen', await db.get('needed'))
      await db.put('needed', '1')
    })
    db.hooks.prewrite.add(({ key }) => order.push(`prewrite ${key}`))
    db.on('open', () => order.push('open'))
    const opening = db.open()
    const deferred = db.get('needed').then((value) => order.push(`deferred ${value}`))
    const written = db.put('later', 'v')
    await Promise.all([opening, deferred, written])
    assert.deepEqual(order.slice(0, 3), ['postopen', undefined, 'prewrite needed'])
    assert.deepEqual(order.slice(3).sort(), ['deferred 1', 'open', 'prewrite later'])
  }
)

documented(
  'Functions added to this hook must return a promise and will receive one argument: `options`.',
  async (db) => {
    await db.close()
    let received
    db.hooks.postopen.add(async (...args) => {
      received = args
    })
    await db.open({ mine: 1 })
    assert.deepEqual([received.length, received[0].mine], [1, 1])
  }
)

documented('If one of the hook functions yields an error then the database will be closed.', async (db) => {
  await db.close()
  const failing = async () => {
    throw new Error('no')
  }
  db.hooks.postopen.add(failing)
  await assert.rejects(db.open(), (error) => error.code === 'LEVEL_HOOK_ERROR')
  assert.equal(db.status, 'closed')
  db.hooks.postopen.delete(failing)
  await db.open()
})

documented(
  "In the rare event that closing also fails, which means there's no safe state to return to, the database will enter an internal locked state where `db.status` is `'closed'` and subsequent calls to `db.open()` or `db.close()` will be met with a [`LEVEL_STATUS_LOCKED`](#errors) error.",
  async (_, t) => {
    const db = t.name.includes('terrace')
      ? await openLevel({ after() {} })
      : new MemoryLevel({ storeEncoding: 'utf8' })
    await db.open()
    await db.close()
    const resource = { close: () => Promise.reject(new Error('not yet')) }
    db.hooks.postopen.add(async () => {
      db.attachResource(resource)
      throw new Error('no')
    })
    await assert.rejects(db.open())
    assert.equal(db.status, 'closed')
    await assert.rejects(db.open(), (error) => error.code === 'LEVEL_STATUS_LOCKED')
    await assert.rejects(db.close(), (error) => error.code === 'LEVEL_STATUS_LOCKED')
  }
)

documented(
  'This locked state is also used during the postopen hook itself, meaning hook functions are not allowed to call `db.open()` or `db.close()`.',
  async (db) => {
    await db.close()
    const codes = []
    const code = (error) => codes.push(error.code)
    db.hooks.postopen.add(async () => {
      await db.open().catch(code)
      db.put('a', 'v')
      await db.close().catch(code)
    })
    await db.open()
    assert.deepEqual(codes, ['LEVEL_STATUS_LOCKED', 'LEVEL_STATUS_LOCKED'])
  }
)

documented(
  'The `options` that were provided in the originating [`db.open(options)`](#dbopenoptions) call, merged with constructor options and defaults. Equivalent to what the private API received in [`db._open(options)`](#db_openoptions).',
  async (db) => {
    await db.close()
    const received = []
    const { _open } = db
    db._open = function (options) {
      received.push(options)
      return _open.call(this, options)
    }
    db.hooks.postopen.add(async (options) => received.push(options))
    await db.open({ mine: 1 })
    assert.equal(received[0], received[1])
    assert.equal(received[0].createIfMissing, true)
  }
)

documented(
  [
    'A synchronous hook that runs when a `AbstractSublevel` instance has been created by [`db.sublevel(options)`](#sublevel--dbsublevelname-options). Functions added to this hook will receive two arguments: `sublevel` and `options`.',
    'The `AbstractSublevel` instance that was created.',
    'The `options` that were provided in the originating `db.sublevel(options)` call, merged with defaults. Equivalent to what the private API received in [`db._sublevel(options)`](#sublevel--db_sublevelname-options).'
  ],
  (db) => {
    const received = []
    db.hooks.newsub.add((...args) => received.push(args))
    const sub = db.sublevel('sub', { mine: 1 })
    assert.equal(received.length, 1)
    assert.equal(received[0].length, 2)
    assert.equal(received[0][0], sub)
    assert.deepEqual(received[0][1], { mine: 1, separator: '!' })
  }
)

documented(
  [
    'This hook can be useful to hook into a database and any sublevels created on that database. Userland modules that act like plugins might like the following pattern:',
    "// Recurse so that db.sublevel('foo', opts) will call logger(sublevel, opts)"
  ],
  async (db) => {
    let runs = 0
    function logger(db, _options) {
      db.hooks.newsub.add(logger)
      db.hooks.prewrite.add(() => {
        runs++
      })
    }
    logger(db)
    // Each request makes an object of its own.
    for (let i = 0; i < 300; i++) await db.sublevel('requests', { valueEncoding: 'json' }).put(`k${i}`, { i })
    assert.equal(runs, 600)
    await db.sublevel('a').sublevel('b').put('k', 'v')
    assert.equal(runs, 603)
  }
)

documented("Add the given `fn` function to this hook, if it wasn't already added.", async (db) => {
  let runs = 0
  const run = () => {
    runs++
  }
  db.hooks.prewrite.add(run)
  db.hooks.prewrite.add(run)
  await db.put('a', 'v')
  assert.equal(runs, 1)
})

documented('Remove the given `fn` function from this hook.', async (db) => {
  const seen = []
  const run = ({ key }) => seen.push(key)
  db.hooks.prewrite.add(run)
  await db.put('a', 'v')
  db.hooks.prewrite.delete(run)
  db.hooks.prewrite.delete(run)
  await db.put('b', 'v')
  assert.deepEqual(seen, ['a'])
})

documented(
  [
    'If a hook function throws an error, it will be wrapped in an error with code [`LEVEL_HOOK_ERROR`](#level_hook_error) and abort the originating call:',
    'As a result, other hook functions will not be called.',
    'An error occurred while running a hook function. The error will have a `cause` property set to the original error thrown from the hook function.'
  ],
  async (db) => {
    const sub = db.sublevel('sub')
    const cause = new Error('no')
    const before = note(sub)
    sub.hooks.prewrite.add(() => {
      throw cause
    })
    const after = [note(sub), note(db)]
    const isWrapped = (error) => error.code === 'LEVEL_HOOK_ERROR' && error.cause === cause
    await assert.rejects(sub.put('a', 'v'), isWrapped)
    await assert.rejects(sub.del('b'), isWrapped)
    await assert.rejects(sub.batch([put('c'), put('d')]), isWrapped)
    assert.throws(() => sub.batch().put('e', 'v'), isWrapped)
    assert.deepEqual(
      [keysOf(before), after],
      [
        ['a', 'b', 'c', 'e'],
        [[], []]
      ]
    )
    assert.deepEqual(await db.keys().all(), [])
  }
)

documented(
  [
    'On sublevels and their parent database(s), hooks are triggered in bottom-up order.',
    "For example, `db.sublevel('a').sublevel('b').batch(..)` will trigger the `prewrite` hook of sublevel `b`, then the `prewrite` hook of sublevel `a` and then of `db`."
  ],
  async (db) => {
    const a = db.sublevel('a')
    const b = a.sublevel('b')
    const order = []
    for (const [name, space] of Object.entries({ db, a, b })) {
      space.hooks.prewrite.add(({ key }) => order.push(`${name} ${key}`))
    }
    await b.batch([put('1'), put('2')])
    assert.deepEqual(order, ['b 1', 'b 2', 'a !b!1', 'a !b!2', 'db !a!!b!1', 'db !a!!b!2'])
  }
)

documented(
  [
    'Only direct operations on a database will trigger hooks, not when a sublevel is provided as an option.',
    'This means `db.batch([{ sublevel, ... }])` will trigger the `prewrite` hook of `db` but not of `sublevel`.'
  ],
  async (db) => {
    const sub = db.sublevel('sub')
    const other = db.sublevel('other')
    await other.open()
    const seen = [note(db), note(sub), note(other)]
    await db.batch([put('a', 'v', { sublevel: sub })])
    await db.batch().put('b', 'v', { sublevel: sub }).write()
    assert.deepEqual(seen.map(keysOf), [['a', 'b'], [], []])
    await other.batch([put('c', 'v', { sublevel: sub })])
    assert.deepEqual(seen.map(keysOf), [['a', 'b', 'c'], [], ['c']])
    assert.equal(await sub.get('c'), 'v')
  }
)

documented(
  'These behaviors are symmetrical to [events](#events): `db.batch([{ sublevel, ... }])` will only emit a `write` event from `db` while `db.sublevel(..).batch([{ ... }])` will emit a `write` event from the sublevel and then another from `db` (this time with fully-qualified keys).',
  async (db) => {
    const sub = db.sublevel('sub')
    const heard = []
    for (const [name, space] of Object.entries({ db, sub })) {
      space.on('write', ([{ key }]) => heard.push(`${name} ${key}`))
    }
    await db.batch([put('a', 'v', { sublevel: sub })])
    assert.deepEqual(heard.splice(0), ['db !sub!a'])
    await sub.batch([put('a')])
    assert.deepEqual(heard.sort(), ['db !sub!a', 'sub a'])
  }
)

documented(
  'Operations made on `colorIndex` are thus forwarded from that sublevel to `indexes` and from there to `db`. At each step, hooks and events are available to transform and react to data from a different perspective.',
  async (db) => {
    const indexes = db.sublevel('idx')
    const colorIndex = indexes.sublevel('colors')
    indexes.hooks.prewrite.add((op) => {
      op.value += ' by indexes'
    })
    const seen = note(db)
    await colorIndex.put('a', 'v')
    assert.equal(seen[0].value, 'v by indexes')
    assert.equal(await colorIndex.get('a'), 'v by indexes')
  }
)

documented(
  "In this case, the parent database of `colorIndex` is `db`. Note that it's still possible to separately create the `indexes` sublevel, but it will be disconnected from `colorIndex`, meaning that `indexes` will not see (live) operations made on `colorIndex`.",
  async (db) => {
    const indexes = db.sublevel('idx')
    const colorIndex = db.sublevel(['idx', 'colors'])
    const seen = [note(indexes), note(db)]
    indexes.on('write', () => assert.fail('it is disconnected'))
    await colorIndex.put('a', 'v')
    assert.deepEqual(seen.map(keysOf), [[], ['!idx!!colors!a']])
  }
)

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
    // One that waits for an earlier one, too.
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

/** Sentences that say nothing that could be tested. */
const beside = [
  '**Hooks are experimental and subject to change without notice.**',
  'Some are shared between database methods to encapsulate common behavior.'
]

test('no sentence of the documentation of hooks is left out', () => {
  for (const quote of said) assert.ok(readme.includes(quote), quote)

  const from = readme.indexOf('\n### Hooks\n')
  let rest = readme
    .slice(from, readme.indexOf('\n### Shared Access\n', from))
    .replaceAll(/^```js\n.*?^```$/gms, '')
    .replaceAll(/^#+ .*$/gm, '')
  for (const quote of [...said, ...beside].sort((a, b) => b.length - a.length))
    rest = rest.replaceAll(quote, '')
  assert.equal(rest.trim(), '')
})

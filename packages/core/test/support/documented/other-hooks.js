// What abstract-level documents about the hooks `postopen` and `newsub`, about errors, and about hooks on sublevels.

import assert from 'node:assert/strict'
import { MemoryLevel } from 'memory-level'
import { kindsOf } from '../databases.js'
import { keysOf, note, put } from './helpers.js'

/** An open database of the kind that the test runs on. The test helper does not close it, because it cannot be closed. */
async function lockable(t) {
  const kind = kindsOf().find(([name]) => t.name.endsWith(`(${name})`))
  const db = kind === undefined ? new MemoryLevel() : kind[1].make(t)
  await db.open()
  return db
}

/** @param documented - Takes sentences, word for word, and a test of each. */
export function otherHooks(documented) {
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
      const db = await lockable(t)
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
      // Each request makes a separate object.
      for (let i = 0; i < 300; i++)
        await db.sublevel('requests', { valueEncoding: 'json' }).put(`k${i}`, { i })
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
}

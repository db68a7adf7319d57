// One user with random permissions, who does everything that a client can. A model predicts each answer.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { MemoryLevel as PlainMemoryLevel } from 'memory-level'
import { Level, MemoryLevel } from 'terrace'
import { NetLevel } from 'terrace-net'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { DrawnConditions } from './drawn-conditions.js'
import { OwnFeed } from './own-feed.js'
import { batchOf, Choices, collect } from './permission-choices.js'
import {
  allKeys,
  Model,
  ownKeys,
  prefixOf,
  randomBounds,
  randomPermissions,
  sublevels,
  walked,
  within
} from './permission-model.js'
import { relay } from './relay.js'
import { serve } from './served.js'
import { temporaryPath } from './temporary.js'

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const utf8 = { keyEncoding: 'utf8', valueEncoding: 'utf8' }

const methodNames = ['echo', 'secret', 'absent', 'approximateSize', 'compactRange', 'checkpoint']
const feedNames = ['whole', 'part', 'outside', 'absent']

const databases = [
  () => new PlainMemoryLevel(buffers),
  () => new MemoryLevel(buffers),
  () => new Level(temporaryPath('db'), buffers)
]

const sorted = (entries) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))

/** Performs `steps` random actions, and adds the count of each to `counts`. */
export async function permissionRound(random, steps, counts) {
  const round = new Round(random, counts)
  await round.begin()
  try {
    for (let step = 0; step < steps; step++) await round.step()
    await round.end()
  } catch (error) {
    throw new Error(`${error.message}\n${round.story}`, { cause: error })
  } finally {
    await round.stop()
  }
}

class Round {
  #random
  #choices
  #counts
  /** The actions so far, for diagnosis of a failure. */
  #done = []
  #permissions
  #model
  #user
  #host
  #relay
  #client
  /** The served database or sublevel, and whether it has the methods of a whole one. */
  #served
  #isMaintained
  #hasConditions
  #feeds
  #outside = new PlainMemoryLevel(buffers)
  #entries = new Map()
  #watched
  #changes

  constructor(random, counts) {
    this.#random = random
    this.#choices = new Choices(random)
    this.#counts = counts
  }

  get story() {
    return `permissions: ${JSON.stringify(this.#permissions)}\n${this.#done.join('\n')}`
  }

  async begin() {
    const random = this.#random
    const transport = random.pick(['unix', 'unix', 'tcp', 'ws'])
    const kind = random.below(databases.length)
    const root = databases[kind]()
    const isSublevel = random.below(4) === 0
    this.#served = isSublevel ? root.sublevel('served', buffers) : root
    this.#isMaintained = !isSublevel && transport === 'unix' ? ['', 'approximateSize', 'all'][kind] : ''
    this.#hasConditions = kind > 0
    await root.open()
    const ofSublevel = this.#served.sublevel('a', buffers)
    this.#feeds = {
      whole: new OwnFeed(this.#served),
      part: new OwnFeed(ofSublevel),
      outside: new OwnFeed(this.#outside)
    }
    this.#feeds.outside.record([['key', 'outside']])

    this.#newRights()
    const asked = { authenticate: () => this.#user }
    const served = random.below(4) > 0 ? asked : { tokens: { x: this.#user } }
    // Without permissions, the user has those of the server.
    const byServer = random.below(4) === 0
    if (byServer) this.#user = { name: 'x' }
    this.#canChange = served === asked
    this.#host = await serve({
      transport,
      db: this.#served,
      ...(byServer && !this.#canChange ? { tokens: { x: this.#user } } : served),
      ...(byServer && { permissions: this.#permissions }),
      methods: { echo: (text) => text, secret: () => 'secret' },
      feeds: this.#feeds
    })
    this.#root = root
    this.#relay = await relay(this.#host.address)
    for (const key of allKeys) if (random.below(3) > 0) this.#entries.set(key, `value of ${key}`)
    await this.#served.batch(
      [...this.#entries].map(([key, value]) => ({ type: 'put', key, value })),
      utf8
    )
    this.#client = new NetLevel(this.#relay.address, { token: 'x' })
    await this.#client.open()
    await this.#listen()
    this.#done.push(`${transport}, ${root.constructor.name}${isSublevel ? ', a sublevel' : ''}`)
  }

  #canChange = false
  #root

  #newRights() {
    this.#permissions = randomPermissions(this.#random, methodNames, feedNames)
    this.#model = new Model(this.#permissions)
    this.#user = { name: 'x', permissions: this.#permissions }
  }

  async step() {
    const kind = this.#random.pick(steps)
    this.#done.push(kind)
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1
    await this[kind]()
    const stored = await this.#served.iterator(utf8).all()
    assert.deepEqual(stored, sorted(this.#entries))
    await this.#checkEvents()
  }

  async single() {
    const key = this.#choices.key()
    const value = this.#choices.value()
    await this.#checked([['read', key]], () => this.#client.get(key), this.#entries.get(key))
    await this.#checked([['read', key]], () => this.#client.has(key), this.#entries.has(key))
    const isDel = this.#random.below(3) === 0
    const sync = this.#random.below(4) === 0
    const write = () => (isDel ? this.#client.del(key, { sync }) : this.#client.put(key, value, { sync }))
    if (await this.#checked([['write', key]], write, undefined))
      this.#wrote([[key, isDel ? undefined : value]])
  }

  async many() {
    const keys = Array.from({ length: this.#random.below(12) }, () => this.#choices.key())
    const reads = keys.map((key) => ['read', key])
    const values = keys.map((key) => this.#entries.get(key))
    await this.#checked(reads, () => this.#client.getMany(keys), values)
    await this.#checked(
      reads,
      () => this.#client.hasMany(keys),
      values.map((value) => value !== undefined)
    )
  }

  /** A batch is written as a whole or not at all; sublevels do not circumvent that. */
  async batch() {
    const operations = this.#choices.operations()
    const writes = operations.map(({ key }) => ['write', key])
    const given = batchOf(operations, (path) => this.#sublevel(path))
    const chained = () => {
      const batch = this.#client.batch()
      for (const { type, key, value, sublevel } of given) {
        if (type === 'put') batch.put(key, value, { sublevel })
        else batch.del(key, { sublevel })
      }
      return batch.write()
    }
    const write = this.#random.below(2) === 0 ? chained : () => this.#client.batch(given)
    if (await this.#checked(writes, write, undefined))
      this.#wrote(operations.map(({ key, value }) => [key, value]))
  }

  /** What conditions are about must be readable as a whole, even if they are known not to hold. */
  async conditions() {
    const snapshot = this.#client.snapshot()
    await this.#barrier()
    const drawn = new DrawnConditions(this.#random, this.#entries)
    if (this.#random.below(2) === 0) drawn.changed((await this.other()).map(([key]) => key))
    const operations = this.#random.below(4) === 0 ? [] : this.#choices.operations()
    const sublevelOf = (path) => this.#sublevel(path)
    const write = () =>
      this.#client.batch(batchOf(operations, sublevelOf), { if: drawn.options(snapshot, sublevelOf) })
    const isAllowed =
      drawn.areReadable(this.#model) && operations.every(({ key }) => this.#model.allows('write', key))
    if (!this.#hasConditions) {
      // Without the right to read, there is no snapshot either.
      const codes = ['LEVEL_NOT_SUPPORTED', ...(this.#model.allowsAny('read') ? [] : ['NET_DENIED'])]
      await assert.rejects(write(), ({ code }) => codes.includes(code))
    } else if (!isAllowed) await this.#denied(write)
    else {
      const isWritten = await drawn.check(write, this.#entries)
      const outcome = isWritten ? 'conditions that hold' : 'conflicts'
      this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1
      if (isWritten) this.#wrote(operations.map(({ key, value }) => [key, value]))
    }
    await snapshot.close()
  }

  /** Another program, which may do everything, writes. */
  async other() {
    const operations = this.#choices.operations()
    await this.#served.batch(
      operations.map(({ key, value }) => ({ type: value === undefined ? 'del' : 'put', key, value })),
      utf8
    )
    const written = operations.map(({ key, value }) => [key, value])
    this.#wrote(written)
    return written
  }

  async walk() {
    const options = this.#choices.walk()
    const expected = walked(this.#readable(), options)
    const [method, of] = this.#random.pick([
      ['iterator', expected],
      ['keys', expected.map(([key]) => key)],
      ['values', expected.map(([, value]) => value)]
    ])
    const highWaterMarkBytes = this.#random.pick([1, 64, 16 * 1024])
    await this.#any('read', () => this.#client[method]({ ...options, highWaterMarkBytes }).all(), of)
  }

  async seek() {
    const { limit, ...options } = this.#choices.walk()
    if (!this.#model.allowsAny('read')) return
    const target = this.#choices.key()
    const iterator = this.#client.keys(options)
    const first = await iterator.nextv(1 + this.#random.below(3))
    assert.ok(first.every((key) => this.#model.allows('read', key)))
    iterator.seek(target)
    const expected = within(options, target)
      ? walked(this.#readable(), options).filter(([key]) => (options.reverse ? key <= target : key >= target))
      : []
    assert.deepEqual(
      await iterator.all(),
      expected.map(([key]) => key)
    )
  }

  /** Reads from a snapshot are clipped as well, and show no later writes. */
  async snapshot() {
    if (!this.#model.allowsAny('read')) return
    const snapshot = this.#client.snapshot()
    const before = this.#readable()
    const old = new Map(this.#entries)
    await this.#barrier()
    await this.other()
    const options = this.#choices.walk()
    assert.deepEqual(await this.#client.iterator({ ...options, snapshot }).all(), walked(before, options))
    const keys = Array.from({ length: 1 + this.#random.below(10) }, () => this.#choices.key())
    const reads = keys.map((key) => ['read', key])
    const values = keys.map((key) => old.get(key))
    await this.#checked(reads.slice(0, 1), () => this.#client.get(keys[0], { snapshot }), values[0])
    await this.#checked(reads, () => this.#client.getMany(keys, { snapshot }), values)
    await snapshot.close()
  }

  async clear() {
    const options = this.#choices.walk()
    const clearable = sorted(this.#entries).filter(([key]) => this.#model.allows('clear', key))
    await this.#any('clear', () => this.#client.clear(options))
    if (!this.#model.allowsAny('clear')) return
    this.#cleared()
    for (const [key] of walked(clearable, options)) this.#entries.delete(key)
  }

  async clearSublevel() {
    const path = this.#random.pick(sublevels)
    const prefix = prefixOf(path)
    await this.#any('clear', () => this.#sublevel(path).clear())
    if (!this.#model.allowsAny('clear')) return
    this.#cleared()
    for (const key of [...this.#entries.keys()])
      if (key.startsWith(prefix) && this.#model.allows('clear', key)) this.#entries.delete(key)
  }

  async call() {
    const name = this.#random.pick(['echo', 'secret', 'absent', 'toString'])
    if (!this.#model.allowsMethod(name)) return this.#denied(() => this.#client.call(name, 'text'))
    const results = { echo: 'text', secret: 'secret' }
    if (name in results && Object.hasOwn(results, name)) {
      assert.equal(await this.#client.call(name, 'text'), results[name])
    } else await assert.rejects(this.#client.call(name), { code: 'NET_UNKNOWN_METHOD' })
  }

  /** What only the owner of a directory may do, and programs of its user on a Unix socket. */
  async maintain() {
    const name = this.#random.pick(['approximateSize', 'compactRange', 'checkpoint'])
    const path = temporaryPath('copy')
    const given = name === 'checkpoint' ? [path] : [Buffer.from('!'), Buffer.from('~')]
    const call = () => this.#client.call(name, ...given)
    if (!this.#model.allowsMethod(name)) return this.#denied(call)
    if (this.#isMaintained !== 'all' && this.#isMaintained !== name) {
      return assert.rejects(call(), { code: 'NET_UNKNOWN_METHOD' })
    }
    const result = await call()
    if (name === 'approximateSize') assert.ok(result >= 0)
    else assert.equal(result, null)
    if (name !== 'checkpoint') return
    const copy = new Level(path, utf8)
    assert.deepEqual(await copy.iterator().all(), sorted(this.#entries))
    await copy.close()
  }

  /** A lost connection: the session resumes with the rights that it had, or not at all. */
  async connection() {
    const changes = this.#canChange && this.#random.below(2) === 0
    const mayRead = this.#model.allowsAny('read')
    const { reverse: _, ...options } = this.#choices.walk()
    const before = mayRead ? walked(this.#readable(), options) : []
    const iterator = mayRead ? this.#client.iterator({ ...options, highWaterMarkBytes: 1 }) : undefined
    const [first] = mayRead ? await iterator.nextv(1) : []
    const snapshot = mayRead ? this.#client.snapshot() : undefined
    await this.#barrier()
    const old = new Map(this.#entries)
    await this.other()
    await this.#checkEvents()
    if (changes) {
      await this.#deaf()
      this.#newRights()
      this.#done.push(`rights: ${JSON.stringify(this.#permissions)}`)
      this.#counts.changed = (this.#counts.changed ?? 0) + 1
    } else if (this.#user.permissions !== undefined) {
      // Equal, but not the same object.
      this.#user = structuredClone(this.#user)
    }
    const lost = once(this.#client, 'connection')
    this.#relay.cut()
    await lost
    await until(() => this.#client.isOnline)

    if (mayRead) {
      if (!changes) assert.deepEqual([...(first ? [first] : []), ...(await iterator.all())], before)
      else await this.#goesOn(iterator, before, options)
      const key = this.#choices.key()
      const get = () => this.#client.get(key, { snapshot })
      if (!changes) await this.#checked([['read', key]], get, old.get(key))
      else if (this.#model.allows('read', key)) await assert.rejects(get(), { code: 'NET_SESSION_LOST' })
      else await assert.rejects(get(), ({ code }) => code === 'NET_DENIED' || code === 'NET_SESSION_LOST')
      await snapshot.close()
    }
    if (changes) await this.#listen()
  }

  /**
   * Without its session, an iterator resumes after its last key, with the current state and rights. Entries that it had requested
   * in advance may be older.
   */
  async #goesOn(iterator, before, options) {
    const mayRead = this.#model.allowsAny('read')
    const rest = await iterator.all().catch(({ code }) => code)
    const outcomes = before.map(([last], i) => {
      const now = walked(this.#readable(), { ...options, limit: -1 }).filter(([key]) => key > last)
      const all = [...before.slice(1, i + 1), ...now]
      return options.limit === undefined ? all : all.slice(0, options.limit - 1)
    })
    // Without any rights it fails, unless it already had all entries.
    if (!mayRead) outcomes.splice(0, outcomes.length, 'NET_DENIED', before.slice(1))
    if (before.length === 0) outcomes.push([])
    assert.ok(
      outcomes.some((outcome) => isDeepStrictEqual(rest, outcome)),
      `it went on with ${JSON.stringify(rest)}, after ${JSON.stringify(before)}`
    )
  }

  // Events.

  /** Subscribes again. */
  async #listen() {
    const random = this.#random
    const path = random.below(3) === 0 ? random.pick(sublevels) : undefined
    const bounds = randomBounds(random, path === undefined ? allKeys : ownKeys)
    const prefix = path === undefined ? '' : prefixOf(path)
    const isWatched = (key) =>
      this.#model.allows('watch', key) && key.startsWith(prefix) && within(bounds, key.slice(prefix.length))
    const watch = this.#client.watch({
      ...bounds,
      ...(path !== undefined && { sublevel: this.#sublevel(path) })
    })
    this.#watched = { iterator: watch, got: [], isWatched, prefix, expected: [], failure: undefined }
    this.#watched.replica = new Map([...this.#entries].filter(([key]) => isWatched(key)))
    collect(watch, this.#watched)

    const name = random.pick(feedNames)
    const of = { whole: '', part: prefixOf(['a']) }[name]
    const range = randomBounds(random, name === 'part' ? ownKeys : allKeys)
    const since = random.below(2) === 0 ? undefined : random.below(this.#feeds.whole.changes.length + 1)
    const changes = this.#client.changes(name, { ...range, ...(since !== undefined && { since }) })
    this.#changes = { iterator: changes, name, of, range, since: since ?? 0, got: [], failure: undefined }
    collect(changes, this.#changes)
    await this.#barrier()
  }

  /** Ends the subscriptions. Call it after all their events were checked. */
  async #deaf() {
    await this.#watched.iterator.return()
    await this.#changes.iterator.return()
  }

  /** A call that the server answers after all events so far. */
  async #barrier() {
    await this.#client.call('absent').catch(() => {})
    await turns(3)
  }

  #wrote(operations) {
    for (const [key, value] of operations) {
      if (value === undefined) this.#entries.delete(key)
      else this.#entries.set(key, value)
    }
    const watched = operations.filter(([key]) => this.#watched.isWatched(key))
    if (watched.length > 0) this.#watched.expected.push(watched)
    this.#feeds.whole.record(operations)
    const prefix = prefixOf(['a'])
    const part = operations.filter(([key]) => key.startsWith(prefix))
    if (part.length > 0)
      this.#feeds.part.record(part.map(([key, value]) => [key.slice(prefix.length), value]))
  }

  /** A clear may be reported as one event, or as deletions: only its effect is compared. */
  #cleared() {
    this.#watched.hasCleared = true
  }

  async #checkEvents() {
    await this.#barrier()
    this.#checkWatched()
    await this.#checkChanges()
  }

  #checkWatched() {
    const watched = this.#watched
    if (!this.#model.allowsAny('watch')) {
      assert.equal(watched.failure?.code, 'NET_DENIED')
      return
    }
    assert.equal(watched.failure, undefined)
    const { prefix, isWatched, replica } = watched
    const told = watched.got.splice(0)
    const expected = watched.expected.splice(0)
    for (const operations of told) {
      for (const operation of operations) {
        if (operation.type === 'clear') {
          for (const key of allKeys) {
            if (!key.startsWith(prefix) || !operation.includes(key.slice(prefix.length))) continue
            assert.ok(isWatched(key), `told of a clear of ${key}`)
            // A partial clear: the receiver reads the keys again.
            if (operation.isPartial && this.#entries.has(key)) replica.set(key, this.#entries.get(key))
            else replica.delete(key)
          }
          continue
        }
        const key = prefix + operation.key
        assert.ok(isWatched(key), `told of ${key}`)
        if (operation.type === 'put') replica.set(key, operation.value)
        else replica.delete(key)
      }
    }
    if (!watched.hasCleared) {
      const texts = told.map((operations) => operations.map(({ key, value }) => [prefix + key, value]))
      assert.deepEqual(texts, expected)
    }
    watched.hasCleared = false
    assert.deepEqual(
      sorted(replica),
      sorted(this.#entries).filter(([key]) => isWatched(key))
    )
    this.#counts.events = (this.#counts.events ?? 0) + told.length
  }

  async #checkChanges() {
    const { name, of, range, since, got } = this.#changes
    const failure = () => this.#changes.failure?.code
    const refusal = !this.#model.allowsFeed(name)
      ? 'NET_DENIED'
      : name === 'absent'
        ? 'NET_UNKNOWN_FEED'
        : of === undefined && !this.#model.allowsAll('watch')
          ? 'NET_DENIED'
          : undefined
    if (refusal !== undefined) {
      assert.equal(failure(), refusal)
      assert.deepEqual(got, [])
      return
    }
    const isTold = ({ key }) =>
      within(range, key) && (of === undefined || this.#model.allows('watch', of + key))
    const changes = this.#feeds[name].changes.filter((change) => change.sequence > since && isTold(change))
    const inBatch = (change, at) => changes.filter(({ batch }) => batch === change.batch).at(at) === change
    const expected = changes.map((change) => ({
      ...change,
      first: inBatch(change, 0),
      last: inBatch(change, -1)
    }))
    await until(() => got.length >= expected.length || failure() !== undefined)
    await turns(3)
    assert.equal(failure(), undefined)
    assert.deepEqual(
      got.map((change) => ({ value: undefined, ...change })),
      expected
    )
    this.#counts.changes = (this.#counts.changes ?? 0) + 1
  }

  async end() {
    await this.#barrier()
    await turns(20)
    await this.#checkEvents()
    await this.#deaf()
    await this.#client.close()
    await this.#host.server.close()
    assert.equal(this.#host.server.statistics().heldBytes, 0)
  }

  async stop() {
    await this.#client?.close().catch(() => {})
    await this.#relay?.stop()
    await this.#host?.stop()
    await this.#root?.close()
    await this.#outside.close()
  }

  #sublevel(path) {
    return path.reduce((db, name) => db.sublevel(name), this.#client)
  }

  #readable() {
    return sorted(this.#entries).filter(([key]) => this.#model.allows('read', key))
  }

  // Checks of the outcome.

  /** Performs an action. If it is not allowed, it must be denied, with no hint about values. */
  async #checked(needed, act, expected) {
    if (needed.every(([right, key]) => this.#model.allows(right, key))) {
      assert.deepEqual(await act(), expected)
      return true
    }
    await this.#denied(act)
    return false
  }

  /** Performs an action whose range is clipped. It is denied only if the user has the right to no possible key. */
  async #any(right, act, expected) {
    if (this.#model.allowsAny(right)) assert.deepEqual(await act(), expected)
    else await this.#denied(act)
  }

  async #denied(act) {
    this.#counts.denied = (this.#counts.denied ?? 0) + 1
    await assert.rejects(act(), ({ code, message }) => {
      assert.equal(code, 'NET_DENIED')
      for (const text of [...this.#entries.keys(), ...this.#entries.values()]) {
        if (text.length > 2) assert.ok(!message.includes(text), message)
      }
      return true
    })
  }
}

const steps = [
  ...[
    'single',
    'many',
    'batch',
    'conditions',
    'conditions',
    'other',
    'walk',
    'walk',
    'seek',
    'snapshot',
    'clear',
    'clearSublevel'
  ],
  ...['call', 'maintain', 'connection']
]

// A remote database in this process: the other side, which has a session over a store that outlives it, and a connection whose messages a
// test delivers one by one, holds back, or loses.

import assert from 'node:assert/strict'
import { conflict, Handles, PendingCalls, RemoteBackend } from 'terrace-core'

export const bytes = (string) => new TextEncoder().encode(string)
export const text = (part) => (typeof part === 'string' ? part : new TextDecoder().decode(part))

/** Calls in the form in which they are sent: a name and its arguments. */
const said = (name, ...parts) => ({ name, parts, read: (answer) => answer })

const codec = {
  textsOf: () => assert.fail('no text was asked for'),
  get: (key, _format, snapshot) => said('get', key, snapshot),
  getMany: (keys, _format, snapshot) => said('getMany', keys, snapshot),
  has: (key, snapshot) => said('has', key, snapshot),
  hasMany: (keys, snapshot) => said('hasMany', keys, snapshot),
  write: (operations) => said('write', [...operations]),
  writeIf: (conditions, operations) => said('writeIf', [...conditions], [...operations]),
  clear: (_range, snapshot) => said('clear', snapshot),
  read: (...parts) => said('read', ...parts),
  cursor: (...parts) => said('cursor', ...parts),
  seek: (...parts) => said('seek', ...parts),
  closeCursor: (cursor) => said('closeCursor', cursor),
  snapshot: (snapshot) => said('snapshot', snapshot),
  closeSnapshot: (snapshot) => said('closeSnapshot', snapshot)
}

/** What outlives every side. */
export class Store {
  /** Values by keys, both texts. */
  entries = new Map()
  /** The writes in their order: the keys that were put, and `clear`. */
  writes = []
}

/** A process that serves the store. It executes each request once in its session, however often the request arrives. */
class Side {
  #store
  #answers = new Map()
  #snapshots = new Map()
  #cursors = new Map()
  isClosing = false
  /** How many pages were read. */
  pages = 0

  constructor(store) {
    this.#store = store
  }

  answer({ number, call }) {
    if (this.#answers.has(number)) return this.#answers.get(number)
    if (this.isClosing) return { number, isPostponed: true }
    const answer = { number }
    try {
      answer.result = this[call.name](...call.parts)
    } catch (error) {
      answer.error = error
    }
    this.#answers.set(number, answer)
    return answer
  }

  get(key, snapshot) {
    return this.#state(snapshot).get(text(key))
  }

  getMany(keys, snapshot) {
    return keys.map((key) => this.get(key, snapshot))
  }

  has(key, snapshot) {
    return this.#state(snapshot).has(text(key))
  }

  hasMany(keys, snapshot) {
    return keys.map((key) => this.has(key, snapshot))
  }

  write(operations) {
    for (let i = 0; i < operations.length; i += 2) {
      this.#store.entries.set(text(operations[i]), text(operations[i + 1]))
      this.#store.writes.push(text(operations[i]))
    }
  }

  /** A condition with a snapshot always holds, if the snapshot is one of this side. */
  writeIf(conditions, operations) {
    const holds = ({ kind, key, snapshot }) =>
      kind === 'unchanged'
        ? this.#state(snapshot) !== undefined
        : this.#store.entries.has(text(key)) === (kind === 'present')
    const failed = conditions.flatMap((condition, i) => (holds(condition) ? [] : [i]))
    if (failed.length > 0) throw conflict(failed, conditions.length)
    this.write(operations)
  }

  clear(snapshot) {
    for (const key of this.#state(snapshot).keys()) this.#store.entries.delete(key)
    this.#store.writes.push('clear')
  }

  snapshot(handle) {
    this.#snapshots.set(handle, new Map(this.#store.entries))
  }

  closeSnapshot(handle) {
    this.#snapshots.delete(handle)
  }

  cursor(handle, { gte, gt, lte, lt, reverse }, parts, snapshot) {
    assert.equal(parts, 'keys')
    const range = [...this.#state(snapshot).keys()]
      .sort()
      .filter((key) => (gte === undefined || key >= text(gte)) && (gt === undefined || key > text(gt)))
      .filter((key) => (lte === undefined || key <= text(lte)) && (lt === undefined || key < text(lt)))
    if (reverse) range.reverse()
    this.#cursors.set(handle, { range, reverse, left: range })
  }

  seek(handle, target) {
    const cursor = this.#cursorOf(handle)
    cursor.left = cursor.range.filter((key) => (cursor.reverse ? key <= text(target) : key >= text(target)))
  }

  closeCursor(handle) {
    this.#cursors.delete(handle)
  }

  read(handle, _page, size, highWaterMarkBytes) {
    const cursor = this.#cursorOf(handle)
    const taken = []
    for (let room = highWaterMarkBytes; room > 0 && taken.length < size && cursor.left.length > 0; ) {
      const [key] = cursor.left
      cursor.left = cursor.left.slice(1)
      taken.push(key)
      room -= key.length
    }
    this.pages++
    return {
      isLast: cursor.left.length === 0,
      bytes: bytes(taken.join('')),
      lengths: taken.map((key) => key.length),
      last: taken.length === 0 ? null : bytes(taken.at(-1))
    }
  }

  #state(snapshot) {
    if (snapshot === undefined) return this.#store.entries
    return this.#snapshots.get(snapshot) ?? assert.fail('asked for a snapshot of another side')
  }

  #cursorOf(handle) {
    return this.#cursors.get(handle) ?? assert.fail('asked for a cursor of another side')
  }
}

/** The connection of one client to one side after the other. */
export class HeldConnection {
  handles = new Handles()
  #pending = new PendingCalls(this.handles, {
    writeUnknown: () => new Error('unknown'),
    stateLost: () => this.stateLost()
  })
  #store
  #side
  #requests = []
  #answers = []
  #isOnline = true
  /** Called when there is something to deliver. */
  onSend = () => {}

  constructor(store) {
    this.#store = store
    this.#side = new Side(store)
  }

  ask(fate, call) {
    return new Promise((resolve, reject) => {
      const number = this.#pending.nextNumber()
      const request = { number, call, fate, read: call.read, mayHaveBegun: false, resolve, reject }
      this.#pending.add(number, request)
      if (this.#isOnline) this.#send(request)
    })
  }

  tell(call, failed) {
    this.ask('with state', call).catch((error) => {
      if (!this.isStateLost(error)) failed?.(error)
    })
  }

  stateLost() {
    return new Error('state lost')
  }

  isStateLost({ message }) {
    return message === 'state lost'
  }

  get isIdle() {
    return this.#pending.size === 0
  }

  get pages() {
    return this.#side.pages
  }

  /** Delivers the next message. Returns whether there was one. */
  step() {
    const request = this.#requests.shift()
    if (request !== undefined) {
      this.#answers.push(this.#side.answer(request))
      return true
    }
    const answer = this.#answers.shift()
    if (answer === undefined) return false
    const pending = this.#pending.get(answer.number)
    if (pending !== undefined && answer.isPostponed) pending.mayHaveBegun = false
    else if (answer.error) this.#pending.reject(answer.number, answer.error)
    else this.#pending.answer(answer.number, answer.result)
    return true
  }

  /** The connection is lost, with all messages, and another one resumes the session. */
  cut() {
    this.disconnect()
    this.#resend()
  }

  /** The other side dies. Another one takes over the store. */
  kill() {
    this.disconnect()
    this.#side = new Side(this.#store)
    this.#pending.lose()
    this.#resend()
  }

  /** The other side announces that it accepts nothing more. Then it ends. */
  end() {
    this.#side.isClosing = true
    while (this.step());
    this.kill()
  }

  /** Messages are delayed for so long that the client gives up its calls. They arrive later. */
  freeze() {
    this.#pending.fail(new Error('offline'), new Error('unknown'))
  }

  /** There is no connection. New calls wait for the next one. */
  disconnect() {
    this.#isOnline = false
    this.#requests = []
    this.#answers = []
  }

  #resend() {
    this.#isOnline = true
    for (const request of this.#pending.all()) this.#send(request)
  }

  #send(request) {
    request.mayHaveBegun = true
    this.#requests.push(request)
    this.onSend()
  }
}

/** A back-end over such a connection. */
export class HeldBackend extends RemoteBackend {
  manifest = { encodings: { view: true } }

  constructor(connection) {
    super(connection, codec)
  }

  open() {}

  close() {}
}

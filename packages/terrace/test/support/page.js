// A tab and the worker that owns its database, both in this process: a back-end in memory, and messages that are copied when sent.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BackendLevel } from 'terrace-core'
import { MemoryBackend } from '../../dist/browser/memory/memory-backend.js'
import { Host } from '../../dist/browser/tabs/worker/host.js'
import { WorkerBackend } from '../../dist/browser/tabs/worker-backend.js'

const wasm = readFileSync(fileURLToPath(new URL('../../dist/browser/terrace-memory.wasm', import.meta.url)))

/** Makes a back-end that answers at once, as the engine in the worker does. */
export async function makeStore() {
  const store = new MemoryBackend(() => WebAssembly.compile(wasm))
  await store.open({})
  return store
}

/** A connection between a tab and a worker. */
export class Connection {
  #ends = [this.#end(1), this.#end(0)]
  #isLost = false
  /** How many messages went each way: to the worker, to the tab. */
  counts = [0, 0]
  /** Called before a message arrives; returns whether the message is lost. */
  intercept = () => false

  get tab() {
    return this.#ends[0]
  }

  get worker() {
    return this.#ends[1]
  }

  /** The worker dies: nothing arrives any more. */
  lose() {
    this.#isLost = true
    for (const end of this.#ends) end.onLost()
  }

  #end(other) {
    return {
      onMessage() {},
      onLost() {},
      close() {},
      send: (message, transfer = []) => {
        const copy = structuredClone(message, { transfer })
        setImmediate(() => {
          if (this.#isLost || this.intercept(other, copy)) return
          this.counts[1 - other]++
          this.#ends[other].onMessage(copy)
        })
      }
    }
  }
}

/** The back-end of a tab whose connections a test makes. */
export class TestBackend extends WorkerBackend {
  manifest = { encodings: { utf8: true, view: true }, shared: true, conditionalWrites: true }

  /** Connects the tab to a store. Returns the connection, what serves it, and a promise that resolves once that has greeted the tab. */
  connect(store) {
    const connection = new Connection()
    const host = new Host(store, connection.worker, 'memory')
    const greeted = new Promise((resolve) => this.connection.attach(connection.tab, resolve))
    return { connection, host, greeted }
  }

  attach(channel, onGreeting) {
    this.connection.attach(channel, onGreeting)
  }

  fail(error) {
    this.connection.fail(error)
  }

  async open() {}

  close() {
    return this.connection.idle()
  }
}

/** A database of a tab whose worker has a separate store. */
export class TabLevel extends BackendLevel {
  constructor(options) {
    const backend = new TestBackend()
    const open = async () => {
      backend.connect(await makeStore())
      backend.open = async () => {}
    }
    backend.open = open
    super(backend, options)
  }
}

/** A database of a tab, its back-end, a store, and the connection. */
export async function openTab(options) {
  const store = await makeStore()
  const backend = new TestBackend()
  const { greeted, ...connected } = backend.connect(store)
  await greeted
  const db = new BackendLevel(backend, options)
  await db.open()
  return { db, backend, store, ...connected }
}

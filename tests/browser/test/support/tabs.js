// Tabs that share a database, without the messages of Level: what the worker hosts are a few questions to a store.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleOf } from './bundles.js'
import { ENGINE_POLICY, serveSite } from './site.js'

const directory = fileURLToPath(new URL('browser/', import.meta.resolve('terrace')))
const from = (path) => `from ${JSON.stringify(directory + path)}`

/** The worker of a leader. It has a distinct number, and answers questions about the store. */
const WORKER = `
  import { greetPage } ${from('tabs/channel/greeting.js')}
  import { serveTabs } ${from('tabs/worker/serve-tabs.js')}
  import { OpfsBackend } ${from('opfs/opfs-backend.js')}
  import { loadStore } ${from('load-modules.js')}

  // To open a database may take as long as it takes, until a test says that it is late.
  performance.now = () => (globalThis.isLate ? Infinity : 0)

  const worker = Math.random()
  loadStore().catch(() => {})
  greetPage()

  serveTabs(async (location, options) => {
    const store = new OpfsBackend(location, loadStore)
    await store.open(options)
    // Never opens the database, and dies when the test wants it.
    if (options.die) await new Promise(() => navigator.locks.request('alive', () => close()))
    const channels = new Set()
    const late = []
    const watchers = new Set()
    /** Resolves when no more tabs than this have a channel. */
    const atMost = async (count) => {
      while (channels.size > count) await new Promise((resolve) => watchers.add(resolve))
      return channels.size
    }
    const answers = {
      who: () => worker,
      atMost,
      options: () => options,
      put: (key, value) => store.write([key, value], false),
      get: (key) => store.get(key, { valueEncoding: 'utf8' }),
      /** How many of these numbers are no keys. */
      missing: (prefix, count) =>
        Array.from({ length: count }, (_, number) => prefix + number).filter((key) => !store.has(key, {})).length,
      length: (bytes) => bytes.byteLength,
      die: () => close()
    }
    return {
      host(channel) {
        channels.add(channel)
        channel.onLost = () => {
          channels.delete(channel)
          for (const watcher of watchers) watcher()
        }
        channel.onMessage = async ({ number, question, args }) => {
          const answer = () => answers[question](...args)
          if (question === 'late') late.push(() => channel.send({ number, result: 'in the end' }))
          else channel.send({ number, result: await answer() })
        }
      },
      async close() {
        for (const answer of late) answer()
        for (const channel of channels) channel.send({ last: true })
        store.close()
      }
    }
  })
`

/** What a page does. `join` makes a member, which keeps what it has seen, and asks the worker that it has a channel to. */
const PAGE = `
  import { Tabs } ${from('tabs/leader/tabs.js')}
  import { startWorker } ${from('tabs/start-worker.js')}

  export class Member {
    events = []
    #channel
    /** Why this tab takes no part any more. */
    #failure
    #asked = new Map()
    #number = 0
    #watchers = new Set()

    constructor(location) {
      this.tabs = new Tabs({
        location,
        startWorker,
        onChannel: (channel, isOwn) => {
          this.#channel = channel
          channel.onMessage = (message) => this.#hear(message)
          channel.onLost = () => {
            this.#channel = undefined
            this.#saw('lost')
            for (const { reject } of this.#asked.values()) reject(new Error('lost'))
            this.#asked.clear()
          }
          this.#saw(isOwn ? 'own channel' : 'channel')
        },
        onFailure: (error, isOwn) => {
          if (isOwn) this.#failure = new Error('This tab takes no part any more: ' + error.code)
          this.#saw((isOwn ? 'own failure ' : 'failure ') + error.code)
        }
      })
    }

    join(options, takeoverOptions) {
      this.#failure = undefined
      this.tabs.join(options, takeoverOptions && (() => takeoverOptions))
    }

    /** Waits for a channel if there is none. Fails if the channel is lost before the answer, or none is to come. */
    async ask(question, ...args) {
      await this.until(() => this.#channel !== undefined || this.#failure !== undefined)
      if (this.#failure !== undefined) throw this.#failure
      return new Promise((resolve, reject) => {
        this.#asked.set(this.#number, { resolve, reject })
        const message = { number: this.#number++, question, args }
        this.#channel.send(message, args.flatMap((arg) => arg?.buffer ?? []))
      })
    }

    /** Asks in a row, without waiting. Resolves with whether the answers came in the same order. */
    async askInOrder(count, question, ...args) {
      const order = []
      const asked = Array.from({ length: count }, (_, number) => this.ask(question, ...args).then(() => order.push(number)))
      await Promise.all(asked)
      return order.every((number, index) => number === index)
    }

    /** Sends so many bytes, which are transferred where that is possible. Resolves with the length that has arrived. */
    sendBytes(length) {
      return this.ask('length', new Uint8Array(length))
    }

    /** Puts one entry after another, until the page ends. written counts the ones that were acknowledged. */
    write(prefix) {
      this.written = 0
      const next = async () => {
        await this.insist('put', prefix + this.written, 'value')
        this.written++
        void next()
      }
      void next()
    }

    /** Resolves when so many more of them were acknowledged. */
    async writes(more) {
      for (const end = this.written + more; this.written < end; ) await new Promise((resolve) => setTimeout(resolve, 1))
    }

    /** Asks until it is answered. */
    async insist(question, ...args) {
      for (;;) {
        try {
          return await this.ask(question, ...args)
        } catch (error) {
          if (error.message !== 'lost') throw error
        }
      }
    }

    /** Resolves when this is true after an event. */
    async until(isTrue) {
      while (!isTrue()) await new Promise((resolve) => this.#watchers.add(resolve))
    }

    /** Waits until something was seen so often. Resolves with when it was seen last, in ms since 1970. */
    async seen(what, times = 1) {
      const found = () => this.events.filter((event) => event.what === what)
      await this.until(() => found().length >= times)
      return found()[times - 1].at
    }

    #hear({ number, result, last }) {
      if (last) return this.#saw('last')
      this.#asked.get(number).resolve(result)
      this.#asked.delete(number)
    }

    #saw(what) {
      this.events.push({ what, at: Date.now() })
      for (const watcher of this.#watchers) watcher()
      this.#watchers.clear()
    }
  }

  /** Messages that this page has sent over broadcast channels for want of a port. */
  let broadcast = 0
  const { postMessage } = BroadcastChannel.prototype
  BroadcastChannel.prototype.postMessage = function (message) {
    if (this.name.startsWith('terrace:link:')) broadcast++
    return postMessage.call(this, message)
  }
  export const isBroadcast = () => broadcast > 0

  const members = {}

  export function join(location, ...options) {
    members[location] ??= new Member(location)
    members[location].join(...options)
  }

  export const member = (location) => members[location]
`

/** The files of a version of the site, in a directory. */
export async function tabsFiles(at) {
  return {
    [`${at}tabs.js`]: await bundleOf(PAGE),
    [`${at}terrace-worker.js`]: await bundleOf(WORKER),
    [`${at}terrace-broker.js`]: await bundleOf(
      `import ${JSON.stringify(`${directory}tabs/channel/broker.js`)}`
    ),
    [`${at}terrace.wasm`]: readFileSync(`${directory}terrace.wasm`)
  }
}

/** Serves a site with these tabs, and with these files. Returns its origin. */
export async function serveTabsSite(t, files = {}) {
  return serveSite(t, { ...(await tabsFiles('/')), ...files }, ENGINE_POLICY)
}

/** A tab in the test. */
export class Tab {
  /** Of another version of the site, perhaps. */
  module = '/tabs.js'

  constructor(page) {
    this.page = page
  }

  /** Opens a page, and joins with these options: for the first time, and later. */
  static async open(page, location, ...options) {
    const tab = new Tab(page)
    await tab.join(location, ...options)
    return tab
  }

  async join(location, ...options) {
    this.location = location
    await this.page.evaluate(
      async ([module, location, options]) => {
        globalThis.site ??= await import(module)
        globalThis.site.join(location, ...options)
      },
      [this.module, location, options.length === 0 ? [{}] : options]
    )
  }

  /** Whether it reaches the worker by a broadcast channel, not by a port. Known after it has asked. */
  isBroadcast() {
    return this.page.evaluate(() => globalThis.site.isBroadcast())
  }

  /** How many of its puts were acknowledged. */
  written() {
    return this.page.evaluate((location) => globalThis.site.member(location).written, this.location)
  }

  /** Calls a method of the page's member. */
  call(method, ...args) {
    return this.page.evaluate(
      ([location, method, args]) => globalThis.site.member(location)[method](...args),
      [this.location, method, args]
    )
  }

  ask(question, ...args) {
    return this.call('ask', question, ...args)
  }

  insist(question, ...args) {
    return this.call('insist', question, ...args)
  }

  seen(what, times) {
    return this.call('seen', what, times)
  }

  events() {
    return this.page.evaluate(
      (location) => globalThis.site.member(location).events.map(({ what }) => what),
      this.location
    )
  }

  isLeader() {
    return this.page.evaluate((location) => globalThis.site.member(location).tabs.isLeader, this.location)
  }

  /** Resolves when it leads, perhaps before the database is open. */
  async leads() {
    await this.page.waitForFunction(
      (location) => globalThis.site.member(location).tabs.isLeader,
      this.location
    )
  }

  leave() {
    return this.page.evaluate((location) => globalThis.site.member(location).tabs.leave(), this.location)
  }
}

/** Opens so many tabs, one after another. The first leads, if there was none. */
export async function openTabs(origin, openPage, location, count = 5) {
  const tabs = []
  for (let number = 0; number < count; number++) {
    tabs.push(await Tab.open(await openPage(origin), location))
    await tabs[number].insist('who')
  }
  return tabs
}

/** Calls `end`, which ends the leader of these tabs. Returns when all of them have lost it, which may be some time later. */
export async function endLeaderOf(tabs, end) {
  const losses = await Promise.all(
    tabs.map(async (tab) => (await tab.events()).filter((event) => event === 'lost').length)
  )
  await end()
  await Promise.all(tabs.map((tab, index) => tab.seen('lost', losses[index] + 1)))
}

/** Waits until all tabs have a channel. Returns the numbers of the workers that answered them. */
export async function workersOf(tabs) {
  return [...new Set(await Promise.all(tabs.map((tab) => tab.insist('who'))))]
}

/** The tab that leads. All have a channel. */
export async function leaderOf(tabs) {
  const lead = await Promise.all(tabs.map((tab) => tab.isLeader()))
  const leaders = tabs.filter((_, index) => lead[index])
  if (leaders.length !== 1) throw new Error(`${leaders.length} tabs lead`)
  return leaders[0]
}

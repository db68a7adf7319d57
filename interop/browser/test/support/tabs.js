// Tabs that share a database, without the messages of Level: what the worker hosts are a few questions to a store.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleOf } from './bundles.js'
import { ENGINE_POLICY, serveSite } from './site.js'

const directory = fileURLToPath(new URL('browser/', import.meta.resolve('terrace')))
const from = (path) => `from ${JSON.stringify(directory + path)}`

/** The worker of a leader. It has a number of its own, and answers questions about the store. */
const WORKER = `
  import { serveTabs } ${from('page/serve-tabs.js')}
  import { StoreBackend } ${from('store-backend.js')}
  import { loadStore } ${from('module.js')}

  const worker = Math.random()

  serveTabs(async (location, options) => {
    const store = new StoreBackend(location, loadStore)
    await store.open(options)
    const channels = new Set()
    const late = []
    const answers = {
      who: () => worker,
      tabs: () => channels.size,
      options: () => options,
      put: (key, value) => store.write([key, value], false),
      get: (key) => store.get(key, { valueEncoding: 'utf8' }),
      count: (prefix) => {
        const cursor = store.cursor({ gte: prefix, lt: prefix + '~', keyEncoding: 'utf8' }, 'keys')
        const [, , ...keys] = cursor.read(100000, 1 << 30)
        cursor.close()
        return keys.length
      },
      echo: (value) => value,
      die: () => close()
    }
    return {
      host(channel) {
        channels.add(channel)
        channel.onLost = () => channels.delete(channel)
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
  import { Tabs } ${from('page/tabs.js')}
  import { startWorker } ${from('page/start-worker.js')}

  class Member {
    events = []
    #channel
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
        onFailure: (error, isOwn) => this.#saw((isOwn ? 'own failure ' : 'failure ') + error.code)
      })
    }

    /** Waits for a channel if there is none. Fails if the channel is lost before the answer. */
    async ask(question, ...args) {
      await this.until(() => this.#channel !== undefined)
      return new Promise((resolve, reject) => {
        this.#asked.set(this.#number, { resolve, reject })
        this.#channel.send({ number: this.#number++, question, args })
      })
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

  const members = {}

  export function join(location, ...options) {
    members[location] ??= new Member(location)
    members[location].tabs.join(...options)
  }

  export const member = (location) => members[location]
`

/** Serves a site with these tabs. Returns its origin. */
export async function serveTabsSite(t, files = {}) {
  return serveSite(
    t,
    {
      '/tabs.js': await bundleOf(PAGE),
      '/worker.js': await bundleOf(WORKER),
      '/broker.js': await bundleOf(`import ${JSON.stringify(`${directory}page/broker.js`)}`),
      '/terrace.wasm': readFileSync(`${directory}terrace.wasm`),
      ...files
    },
    ENGINE_POLICY
  )
}

/** A tab in the test. */
export class Tab {
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
      async ([location, options]) => {
        globalThis.site = await import('/tabs.js')
        globalThis.site.join(location, ...options)
      },
      [location, options.length === 0 ? [{}] : options]
    )
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

  leave() {
    return this.page.evaluate((location) => globalThis.site.member(location).tabs.leave(), this.location)
  }
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

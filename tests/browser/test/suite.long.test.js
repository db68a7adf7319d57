// The published test suite of abstract-level, unmodified, in a page: against a client over WebSocket, and against a sublevel of one.
//
// Long: abstract-level's suite, twice.

import assert from 'node:assert/strict'
import { MemoryLevel } from 'memory-level'
import { createServer } from 'terrace-net/server'
import { useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { test } from './support/patient-test.js'
import { serveSite } from './support/site.js'
import { checkSuite, suiteModule } from './support/suite-module.js'

/** How many tests the suite registers for a served database today. abstract-level may add more. */
const TESTS = 1470

const openPage = useBrowser()

/** Servers start and stop with the databases of the page, by functions that it is given. */
const SERVED_LEVEL = `
  import { NetLevel } from 'terrace-net'

  // Some tests leave their database open, and Chromium gives a page 255 WebSockets. The oldest lose theirs, long after their tests,
  // and wait for another one. To close them would call listeners that those tests have left.
  const MAX_OPEN = 100
  const open = new Set()
  function disconnectOldest() {
    const [oldest] = open
    open.delete(oldest)
    oldest.disconnect()
  }

  class ServedLevel extends NetLevel {
    #found
    #name

    constructor(options) {
      const found = {}
      super(() => found.address, options)
      this.#found = found
      this.#name = crypto.randomUUID()
    }

    async _open(options) {
      this.#found.address = await globalThis.startServer(this.#name)
      open.add(this)
      if (open.size > MAX_OPEN) disconnectOldest()
      return super._open(options)
    }

    disconnect() {
      this.#found.address = new Promise(() => {})
      globalThis.stopServer(this.#name)
    }

    async _close() {
      open.delete(this)
      await super._close()
      await globalThis.stopServer(this.#name)
    }
  }
`

const suite = suiteModule(
  SERVED_LEVEL,
  "(options) => isSublevel ? new ServedLevel().sublevel(['a', 'b'], options) : new ServedLevel(options)",
  'isSublevel'
)

/** Runs the suite. Returns how many tests it has, what it printed, and what the page had to say. */
async function run(t, isSublevel) {
  const origin = await serveSite(t, { '/tape.js': await tapeBundle(), '/suite.js': await bundleOf(suite) })
  const page = await openPage(t, origin)
  const databases = new Map()
  const servers = new Map()

  await page.exposeFunction('startServer', async (name) => {
    const db = databases.get(name) ?? new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
    databases.set(name, db)
    servers.set(name, createServer(db, { origins: [origin] }))
    return servers.get(name).listen('ws://127.0.0.1:0/db')
  })
  await page.exposeFunction('stopServer', (name) => servers.get(name).close())
  t.after(() => Promise.all([...servers.values()].map((server) => server.close())))

  await page.addScriptTag({ url: '/tape.js' })
  const ran = await page.evaluate(
    (isSublevel) => import('/suite.js').then(({ run }) => run(isSublevel)),
    isSublevel
  )
  return { ...ran, problems: page.problems }
}

for (const [name, isSublevel] of [
  ['a client over WebSocket', false],
  ['a sublevel of one', true]
]) {
  test(`abstract-level's suite passes for ${name}`, async (t) => {
    const { registered, lines, problems } = await run(t, isSublevel)
    checkSuite(t, registered, lines, TESTS)
    assert.deepEqual(problems, [])
  })
}

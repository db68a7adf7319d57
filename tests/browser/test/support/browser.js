// Debian's Chromium, headless. One is started for each test file.

import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { chromium } from 'playwright-core'
import { HANG_MS, until } from '../../../support/waiting.mjs'
import { makeProfile, removeProfile } from './profiles.js'

export const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** It may not use the network on its own, and root may run it. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** How Playwright starts it. */
export const LAUNCH = {
  executablePath: EXECUTABLE,
  args: FLAGS,
  headless: true,
  chromiumSandbox: false,
  timeout: HANG_MS
}

async function start(profile, { flags = [], ...options } = {}) {
  const all = { ...options, ...LAUNCH, args: [...FLAGS, ...flags] }
  return patient(await chromium.launchPersistentContext(profile, all))
}

/** Has Playwright wait for as long as a test may take, not for half a minute. */
function patient(context) {
  context.setDefaultTimeout(HANG_MS)
  return context
}

/** Starts a browser, with more `flags` and Playwright's options, before the tests of a file, and ends it after them. Returns a function that opens a page for a test. */
export function useBrowser(options = {}) {
  const profile = makeProfile('browser')
  let context
  before(async () => {
    context = await start(profile, options)
  })
  after(async () => {
    await context?.close()
    removeProfile(profile)
  })
  return openPage

  /** Opens a page. `problems` are its errors, and what the browser has to say about it. */
  async function openPage(t, url) {
    const page = await context.newPage()
    t.after(() => page.close())
    const problems = []
    page.on('pageerror', (error) => problems.push(error.stack))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
    })
    await page.goto(url)
    return Object.assign(page, { problems })
  }
}

/** Starts a browser whose windows are private. It ends with the test. */
export async function startPrivate(t) {
  const browser = await chromium.launch(LAUNCH)
  t.after(() => browser.close())
  return patient(await browser.newContext())
}

/** A browser with its own profile, which a test kills and starts again. Both end with the test. */
export class KillableBrowser {
  #profile = makeProfile('killed')
  #context

  constructor(t) {
    t.after(async () => {
      await this.close()
      removeProfile(this.#profile)
    })
  }

  /** Opens a page, in a new browser if there is none. */
  async open(url) {
    this.#context ??= await start(this.#profile)
    const page = await this.#context.newPage()
    await page.goto(url)
    return page
  }

  /** Kills all of its processes at once. Returns when they are gone. */
  async kill() {
    const context = this.#context
    this.#context = undefined
    const closed = new Promise((resolve) => context.once('close', resolve))
    // The link leads to `HOST-PID`. Playwright starts the browser as the leader of a process group.
    const leader = Number(readlinkSync(join(this.#profile, 'SingletonLock')).split('-').at(-1))
    process.kill(-leader, 'SIGKILL')
    await closed
  }

  async close() {
    await this.#context?.close()
    this.#context = undefined
  }
}

/** Crashes the process of a page. Returns when that is known. */
export async function crash(page) {
  const crashed = new Promise((resolve) => page.once('crash', resolve))
  const session = await page.context().newCDPSession(page)
  // It gets no answer.
  session.send('Page.crash').catch(() => {})
  await crashed
}

/** Resolves when any page or worker of the site waits for a lock of this name. */
export const isWaitedFor = (page, lock) =>
  until(
    () =>
      page.evaluate(
        async (lock) => (await navigator.locks.query()).pending.some(({ name }) => name === lock),
        lock
      ),
    `somebody to wait for ${lock}`
  )

/** How often to poll a page that may draw no frames. */
const POLLING_MS = 20

/** The session with which Playwright itself controls a page. Only through it can some of Playwright's settings be reverted. */
const ownSession = (page) => page._connection.toImpl(page).delegate._mainFrameSession._client

/** Puts another page in front of these, which Playwright would have the browser show nevertheless. Only a hidden page can be frozen. */
export async function hide(...pages) {
  const other = await pages[0].context().newPage()
  for (const page of pages) {
    await ownSession(page).send('Emulation.setFocusEmulationEnabled', { enabled: false })
  }
  await other.bringToFront()
  // Not before its next picture: a hidden page has none.
  for (const page of pages) {
    await page.waitForFunction(() => document.visibilityState === 'hidden', undefined, {
      polling: POLLING_MS
    })
  }
}

/** Freezes a hidden page, as the browser does with one that has been in the background for long. */
export const freezeHidden = (page) => ownSession(page).send('Page.setWebLifecycleState', { state: 'frozen' })

/** Hides a page, and freezes it. */
export async function freeze(page) {
  await hide(page)
  await freezeHidden(page)
}

/** Resumes a frozen page. */
export async function thaw(page) {
  await ownSession(page).send('Page.setWebLifecycleState', { state: 'active' })
}

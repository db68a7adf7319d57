// Debian's Chromium, headless. One is started for each test file.

import { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { chromium } from 'playwright-core'

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

const start = (profile, { flags = [], ...options } = {}) =>
  chromium.launchPersistentContext(profile, {
    ...options,
    executablePath: EXECUTABLE,
    args: [...FLAGS, ...flags],
    headless: true,
    chromiumSandbox: false
  })

/** Starts a browser, with more `flags` and Playwright's options, before the tests of a file, and ends it after them. Returns a function that opens a page for a test. */
export function useBrowser(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'terrace-browser-'))
  let context
  before(async () => {
    context = await start(profile, options)
  })
  after(async () => {
    await context?.close()
    rmSync(profile, { recursive: true, force: true })
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
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: FLAGS,
    headless: true,
    chromiumSandbox: false
  })
  t.after(() => browser.close())
  return browser.newContext()
}

/** A browser with a profile of its own, which a test kills and starts again. Both end with the test. */
export class KillableBrowser {
  #profile = mkdtempSync(join(tmpdir(), 'terrace-killed-'))
  #context

  constructor(t) {
    t.after(async () => {
      await this.close()
      rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
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

/**
 * Freezes a page, as the browser does with one that has been in the background for long. Leaves another page in front of it: without that, the browser
 * might show the frozen one again.
 */
export async function freeze(page) {
  // Only a hidden page is frozen, and Playwright has the browser show all of them. Its own session alone can take that back.
  const { _client: own } = page._connection.toImpl(page).delegate._mainFrameSession
  await own.send('Emulation.setFocusEmulationEnabled', { enabled: false })
  const other = await page.context().newPage()
  await other.bringToFront()
  await page.waitForFunction(() => document.visibilityState === 'hidden')
  await own.send('Page.setWebLifecycleState', { state: 'frozen' })
}

/** Has a frozen page go on. */
export async function thaw(page) {
  const { _client: own } = page._connection.toImpl(page).delegate._mainFrameSession
  await own.send('Page.setWebLifecycleState', { state: 'active' })
}

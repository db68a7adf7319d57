// Debian's Firefox, headless, driven by Puppeteer through WebDriver BiDi: Playwright drives only its own build of
// Firefox.

import { once } from 'node:events'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import puppeteer from 'puppeteer-core'
import { HANG_MS } from '../../../support/waiting.mjs'
import { missingProgram } from './missing-program.js'
import { makeProfile, removeProfile } from './profiles.js'

const EXECUTABLE = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

/** The suite takes Firefox many minutes. */
const PROTOCOL_TIMEOUT_MS = 60 * 60_000

/** Why its tests cannot run; undefined if they can. */
export const missingFirefox = () => missingProgram(EXECUTABLE, 'firefox-esr', 'FIREFOX')

/** Starts Firefox, with more of Puppeteer's options. */
export const launchFirefox = (options = {}) =>
  puppeteer.launch({
    browser: 'firefox',
    executablePath: EXECUTABLE,
    headless: true,
    timeout: HANG_MS,
    protocolTimeout: PROTOCOL_TIMEOUT_MS,
    ...options
  })

/** What makes every window a private one. */
export const PRIVATE = { 'browser.privatebrowsing.autostart': true }

/** Starts Firefox before the tests of a file, and ends it after them. Returns a function that opens a page for a test. */
export function useFirefox(preferences = {}) {
  let browser
  before(async () => {
    browser = await launchFirefox({ extraPrefsFirefox: preferences })
  })
  after(() => browser?.close())
  return openPage

  async function openPage(t, url) {
    const page = await browser.newPage()
    t.after(() => page.close().catch(() => {}))
    page.setDefaultTimeout(HANG_MS)
    await page.goto(url)
    return page
  }
}

/** A Firefox with its own profile, which a test kills and starts again. Both end with the test. */
export class KillableFirefox {
  #directory = makeProfile('killed-firefox')
  #browsers = 0
  #browser

  constructor(t) {
    t.after(async () => {
      await this.close()
      removeProfile(this.#directory)
    })
  }

  get #profile() {
    return join(this.#directory, `profile${this.#browsers}`)
  }

  /** Opens a page, in a new browser if there is none. */
  async open(url) {
    this.#browser ??= await launchFirefox({ userDataDir: this.#profile })
    const page = await this.#browser.newPage()
    page.setDefaultTimeout(HANG_MS)
    await page.goto(url)
    return page
  }

  /** Kills all of its processes at once. Returns when they are gone. */
  async kill() {
    // Puppeteer starts the browser as the leader of a process group.
    await this.#end((browser) => process.kill(-browser.process().pid, 'SIGKILL'))
  }

  async close() {
    if (this.#browser !== undefined) await this.#end((browser) => browser.close())
  }

  async #end(end) {
    const browser = this.#browser
    this.#browser = undefined
    const exited = once(browser.process(), 'exit')
    await end(browser)
    await exited
    // After a browser's end, Puppeteer changes files of its profile, with no sign when it is done.
    const former = this.#profile
    this.#browsers++
    renameSync(former, this.#profile)
  }
}

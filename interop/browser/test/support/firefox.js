// Debian's Firefox, headless, driven by Puppeteer through WebDriver BiDi: Playwright drives a Firefox of its own alone.

import { accessSync, constants } from 'node:fs'
import { after, before } from 'node:test'
import puppeteer from 'puppeteer-core'

const EXECUTABLE = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

/** The suite takes Firefox many minutes. */
const PROTOCOL_TIMEOUT_MS = 30 * 60_000

/** Why its tests cannot run; undefined if they can. */
export function missingFirefox() {
  try {
    accessSync(EXECUTABLE, constants.X_OK)
    return undefined
  } catch {
    return `${EXECUTABLE} is missing (apt-get install firefox-esr; FIREFOX names one elsewhere)`
  }
}

/** Starts Firefox before the tests of a file, and ends it after them. Returns a function that opens a page for a test. */
export function useFirefox() {
  let browser
  before(async () => {
    browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: EXECUTABLE,
      headless: true,
      protocolTimeout: PROTOCOL_TIMEOUT_MS
    })
  })
  after(() => browser?.close())
  return openPage

  /** Opens a page. `lines` are what its scripts print. */
  async function openPage(t, url) {
    const page = await browser.newPage()
    t.after(() => page.close().catch(() => {}))
    const lines = []
    page.on('console', (message) => lines.push(...message.text().split('\n')))
    await page.goto(url)
    return Object.assign(page, { lines })
  }
}

// The browsers that are measured, each with a profile that is new.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { LAUNCH } from '../../tests/browser/test/support/browser.js'
import { launchFirefox, PRIVATE } from '../../tests/browser/test/support/firefox.js'
import { ISOLATION } from '../../tests/browser/test/support/site.js'

/** Firefox would tell milliseconds. */
const FINE_CLOCK = { 'privacy.reduceTimerPrecision': false }

const PRIVATE_FIREFOX = { ...FINE_CLOCK, ...PRIVATE }

/** Where there are files, it takes as long as one that tabs share. */
const WITH_FILES = { lacks: ['Level, shared: false'] }

/**
 * By name: how results call it, how it is started, which takes the profile's directory and resolves with what has `newPage()` and
 * `close()`, and its version, which kinds of database it lacks, and the headers of the site.
 */
export const browsers = {
  chromium: {
    ...WITH_FILES,
    workload: 'browser',
    start: startChromium
  },
  // Its pages share memory with their workers.
  'chromium-isolated': {
    ...WITH_FILES,
    workload: 'Chromium, isolated page',
    start: startChromium,
    headers: ISOLATION
  },
  'chromium-private': {
    ...WITH_FILES,
    workload: 'Chromium, private window',
    async start() {
      const browser = await chromium.launch(LAUNCH)
      return { context: browser, version: `Chromium ${browser.version()}` }
    }
  },
  firefox: {
    ...WITH_FILES,
    workload: 'Firefox',
    start: (profile) => startFirefox(profile, FINE_CLOCK)
  },
  // It refuses the origin-private file system.
  'firefox-private': {
    workload: 'Firefox, private window',
    start: (profile) => startFirefox(profile, PRIVATE_FIREFOX),
    lacks: ['Level in a worker']
  }
}

async function startChromium(profile) {
  const context = await chromium.launchPersistentContext(profile, LAUNCH)
  return { context, version: `Chromium ${context.browser()?.version() ?? ''}`.trim() }
}

async function startFirefox(profile, preferences) {
  const context = await launchFirefox({ userDataDir: profile, extraPrefsFirefox: preferences })
  return { context, version: (await context.version()).replace('/', ' ') }
}

/** Starts a browser, has `work` use it, and ends it. */
export async function inBrowser({ start }, work) {
  const profile = mkdtempSync(join(tmpdir(), 'terrace-bench-'))
  try {
    const { context, version } = await start(profile)
    try {
      await work({ page: await context.newPage(), version, profile })
    } finally {
      await context.close()
    }
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

// The built site in Chromium: the search without a service, and pages that ask nobody else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outDirectory } from '../../root.mjs'
import { fileIn, openPage, serve, withoutChromium } from '../support/site.js'

const site = (t) => serve(t, (path) => fileIn(outDirectory, path))

async function searched(t, words) {
  const page = await openPage(t, await site(t), '/index.html')
  await page.click('.VPNavBarSearch button')
  await page.fill('#localsearch-input', words)
  await page.waitForSelector('#localsearch-list .result')
  return page
}

/** A word, the page that should be among the first results, and a text on it. */
const SEARCHES = [
  ['pagination cursor', '/recipes.html', 'Pagination'],
  ['codemod', '/migrating.html', 'The codemod'],
  ['ifAbsent', '/toolbox/transaction.html', 'ifAbsent'],
  ['power loss', '/crash-safety.html', 'power loss'],
  ['highWaterMarkBytes', '/packages/terrace/index.html', 'highWaterMarkBytes']
]

for (const [words, path, text] of SEARCHES) {
  test(`a search for "${words}" leads to ${path}`, { skip: withoutChromium }, async (t) => {
    const page = await searched(t, words)
    const result = page.locator(`#localsearch-list a[href^="${path.replace(/index\.html$/, '')}"]`).first()
    await result.click()
    await page.waitForURL((url) => fileIn(outDirectory, url.pathname) === fileIn(outDirectory, path))
    await page.waitForSelector(`.vp-doc :text("${text}")`)
    page.assertNoProblems()
  })
}

test('a search for what is nowhere says so', { skip: withoutChromium }, async (t) => {
  const page = await openPage(t, await site(t), '/index.html')
  await page.click('.VPNavBarSearch button')
  await page.fill('#localsearch-input', 'xyzzyplugh')
  await page.waitForSelector('.no-results')
  page.assertNoProblems()
})

test('guides come before the reference', { skip: withoutChromium }, async (t) => {
  const page = await searched(t, 'snapshot')
  const first = await page.locator('#localsearch-list a').first().getAttribute('href')
  assert.doesNotMatch(first, /^\/(reference|decisions|bench\/results)\//)
})

for (const path of [
  '/',
  '/packages/terrace/',
  '/reference/terrace.html',
  '/benchmarks.html',
  '/toolbox/indexes.html'
]) {
  for (const width of [400, 1400]) {
    test(`${path} is no wider than a window of ${width} pixels`, { skip: withoutChromium }, async (t) => {
      const page = await openPage(t, await site(t), path, { viewport: { width, height: 900 } })
      await page.waitForLoadState('networkidle')
      assert.ok((await page.locator('main, .VPHome').first().innerText()).length > 200)
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width)
      page.assertNoProblems()
    })
  }
}

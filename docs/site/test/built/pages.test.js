// The programs of pages that are for a browser run in Chromium, bundled as docs/browser.md describes.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { documents } from '../../pages.mjs'
import { root } from '../../root.mjs'
import { blocksOf } from '../support/blocks.js'
import { announced, goesOn } from '../support/programs.js'
import { fileIn, openPage, serve, withoutChromium } from '../support/site.js'

const { build } = createRequire(join(root, 'package.json'))('esbuild')
const packageFiles = join(
  dirname(createRequire(join(root, 'package.json')).resolve('terrace/package.json')),
  'dist/browser'
)

/** Programs of pages, in groups that go on with each other's databases. */
const groups = documents.flatMap((document) => {
  const found = []
  for (const block of blocksOf(document).filter(({ inPage }) => inPage)) {
    if (goesOn(block.code)) found.at(-1).push({ document, ...block })
    else found.push([{ document, ...block }])
  }
  return found
})

test('there are programs for browsers', () => assert.ok(groups.length >= 3))

for (const group of groups) {
  const name = `${group[0].document}:${group.map(({ line }) => line)}`
  test(name, { skip: withoutChromium }, async (t) => {
    const site = mkdtempSync(join(tmpdir(), 'terrace-docs-pages-'))
    t.after(() => rmSync(site, { recursive: true }))
    for (const [i, { code }] of group.entries()) await makePage(site, i, code)
    const origin = await serve(t, (path) => fileIn(site, path) ?? fileIn(packageFiles, path))
    const page = await openPage(t, origin, '/0.html')
    for (const [i, { code }] of group.entries()) {
      if (i > 0) await page.goto(`${origin}/${i}.html`)
      await page.waitForFunction(() => globalThis.ended !== undefined)
      assert.equal(await page.evaluate(() => globalThis.ended), 'well')
      const printed = await page.evaluate(() => globalThis.printed)
      assert.deepEqual(printed.map(inWords), announced(code))
    }
    page.assertNoProblems()
  })
}

/** What `console.log` of Node would print. */
const inWords = (values) =>
  values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ')

/** Writes a page that runs a program, and keeps what it prints. */
async function makePage(site, number, code) {
  const program = `globalThis.printed = []
console.log = (...values) => printed.push(values)
addEventListener('unhandledrejection', ({ reason }) => { globalThis.ended = String(reason) })
import(${JSON.stringify(`./${number}.js`)}).then(() => { globalThis.ended = 'well' })`
  writeFileSync(
    join(site, `${number}.html`),
    `<!doctype html><html lang="en"><title>Test</title><link rel="icon" href="data:,"><body></body><script type="module">${program}</script></html>`
  )
  await build({
    stdin: { contents: code, resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outfile: join(site, `${number}.js`),
    logLevel: 'silent'
  })
}

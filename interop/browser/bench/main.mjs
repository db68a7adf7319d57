// Level in a page, in a worker and on IndexedDB beside browser-level, in one page of Chromium, in turns:
//
//   node bench/main.mjs RESULTS [ENTRIES] [ROUNDS]
//
// RESULTS is a file for the benchmark in bench/node, which makes a table and a plot of it. A round counts the fastest of its turns. Keys have 16
// bytes and come in random order; values have 100.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { commit, machine } from '../../../bench/node/src/machine.js'
import { appendResult } from '../../../bench/node/src/results.js'
import { EXECUTABLE, FLAGS } from '../test/support/browser.js'
import { bundleOf } from '../test/support/bundles.js'
import { engineFiles } from '../test/support/engine-site.js'
import { LEVEL_MODULE } from '../test/support/indexeddb.js'

const [file, entries = 100_000, rounds = 3] = process.argv
  .slice(2)
  .map((word, i) => (i === 0 ? word : Number(word)))
if (file === undefined) {
  console.error('usage: node bench/main.mjs RESULTS [ENTRIES] [ROUNDS]')
  process.exit(2)
}

const own = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
const manifest = (name) =>
  JSON.parse(readFileSync(new URL(`../../../node_modules/${name}/package.json`, import.meta.url), 'utf8'))

/** The site: our package beside the bundle, as a bundler that knows its form would have it. */
async function site() {
  const files = Object.fromEntries(
    Object.entries(engineFiles).map(([path, bytes]) => [path.slice('/terrace'.length), bytes])
  )
  const bundle = await bundleOf(`${LEVEL_MODULE}\nexport { Level } from 'terrace'`)
  return {
    ...files,
    '/level.js': bundle,
    ...Object.fromEntries(['works.js', 'page.js', 'bench-worker.js'].map((name) => [`/${name}`, own(name)]))
  }
}

const files = await site()
const server = createServer(({ url }, response) => {
  const type = url === '/' ? 'text/html' : url.endsWith('.wasm') ? 'application/wasm' : 'text/javascript'
  response.writeHead(200, { 'content-type': type }).end(files[url] ?? '<!doctype html>')
}).listen(0, '127.0.0.1')
const profile = mkdtempSync(join(tmpdir(), 'terrace-bench-'))
const context = await chromium.launchPersistentContext(profile, {
  executablePath: EXECUTABLE,
  args: FLAGS,
  headless: true,
  chromiumSandbox: false
})
try {
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  const run = (number, count) =>
    page.evaluate((given) => import('/page.js').then(({ round }) => round(...given)), [number, count])
  console.error('warming up')
  await run(0, Math.min(8000, entries))
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`)
    for (const [target, lines] of Object.entries(await run(round + 1, entries))) {
      const { name, version } = manifest(target === 'browser-level' ? 'browser-level' : 'terrace')
      appendResult(file, {
        workload: 'browser',
        target,
        package: { name, version },
        databaseOptions: {},
        settings: { n: entries, valueSize: 100 },
        round,
        lines,
        fileBytes: 0,
        machine: { ...machine(profile), browser: `Chromium ${context.browser()?.version() ?? ''}`.trim() },
        commit: commit(),
        date: new Date().toISOString()
      })
    }
  }
} finally {
  await context.close()
  server.close()
  rmSync(profile, { recursive: true, force: true })
}

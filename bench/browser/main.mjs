// Level in a page, in a worker and on IndexedDB beside browser-level, in one page of a browser, interleaved:
//
//   node bench/browser/main.mjs RESULTS [ENTRIES] [ROUNDS] [BROWSER]
//
// RESULTS is a file for the benchmark in bench/node, which makes a table and a plot of it. A round counts the fastest of its turns. Keys have 16
// bytes and come in random order; values have 100. BROWSER is `chromium`, which is the default, `chromium-isolated`,
// `chromium-private`, `firefox` or `firefox-private`.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { commit, machine } from '../../scripts/machine.mjs'
import { bundleOf } from '../../tests/browser/test/support/bundles.js'
import { engineFiles } from '../../tests/browser/test/support/engine-site.js'
import { LEVEL_MODULE } from '../../tests/browser/test/support/indexeddb.js'
import { appendResult } from '../node/src/results.js'
import { browsers, inBrowser } from './browsers.mjs'

const [file, entryWord = '100000', roundWord = '3', browserName = 'chromium'] = process.argv.slice(2)
const [entries, rounds] = [Number(entryWord), Number(roundWord)]
const browser = browsers[browserName]
if (file === undefined || browser === undefined) {
  console.error(
    `usage: node bench/browser/main.mjs RESULTS [ENTRIES] [ROUNDS] [${Object.keys(browsers).join('|')}]`
  )
  process.exit(2)
}

const own = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
const manifest = (name) =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8'))

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
  response.writeHead(200, { 'content-type': type, ...browser.headers }).end(files[url] ?? '<!doctype html>')
}).listen(0, '127.0.0.1')
try {
  await inBrowser(browser, measure)
} finally {
  server.close()
}

async function measure({ page, version: browserVersion, profile }) {
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  const run = (number, count) =>
    page.evaluate(
      (given) => import('/page.js').then(({ round }) => round(...given)),
      [number, count, browser.lacks ?? []]
    )
  console.error(`${browserVersion}: warming up`)
  await run(0, Math.min(8000, entries))
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`)
    for (const [target, lines] of Object.entries(await run(round + 1, entries))) {
      const { name, version } = manifest(target === 'browser-level' ? 'browser-level' : 'terrace')
      appendResult(file, {
        workload: browser.workload,
        target,
        package: { name, version },
        databaseOptions: {},
        settings: { n: entries, valueSize: 100 },
        round,
        lines,
        fileBytes: 0,
        machine: { ...machine(profile), browser: browserVersion },
        commit: commit(),
        date: new Date().toISOString()
      })
    }
  }
}

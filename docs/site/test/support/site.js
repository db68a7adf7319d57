// A site on loopback, and Chromium to look at it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { after } from 'node:test'
import { chromium } from 'playwright-core'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** A printed reason why what needs Chromium is left out, or false. */
export const withoutChromium = existsSync(EXECUTABLE)
  ? false
  : 'Chromium is missing (apt-get install chromium; CHROMIUM names one elsewhere)'

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm'
}

/** Serves what `find` has for a path: the name of a file, or undefined. Returns the origin. It ends with the test. */
export async function serve(t, find) {
  const server = createServer(({ url }, response) => {
    const file = find(decodeURIComponent(new URL(url, 'http://site').pathname))
    if (file === undefined) response.writeHead(404).end()
    else
      response
        .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
        .end(readFileSync(file))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}`
}

/** The file of a directory for a path of a site, as a plain web server finds it. */
export function fileIn(directory, path) {
  const file = join(directory, normalize(path))
  if (existsSync(file) && statSync(file).isFile()) return file
  const index = join(file, 'index.html')
  return existsSync(index) ? index : undefined
}

let starting
after(async () => (await starting)?.close())

/** The Chromium of a file of tests, which starts with the first page. */
function browser() {
  starting ??= chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    chromiumSandbox: false,
    timeout: HANG_MS
  })
  return starting
}

/**
 * Opens a page, which shares nothing with others. It ends with the test, which fails if the page asked anyone but `origin` for something, or
 * had an error.
 */
export async function openPage(t, origin, path, options = {}) {
  const page = await (await browser()).newPage(options)
  t.after(() => page.close())
  page.setDefaultTimeout(HANG_MS)
  const problems = []
  page.on('pageerror', (error) => problems.push(error.stack))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) problems.push(`a request to ${url}`)
  })
  await page.goto(origin + path)
  return Object.assign(page, { assertNoProblems: () => assert.deepEqual(problems, []) })
}

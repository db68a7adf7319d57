// Our back-end on IndexedDB beside browser-level, in one page of Chromium, in turns: `node bench/indexeddb.mjs [ENTRIES] [ROUNDS]`.
// Prints a table of medians, and of the ratios of each round, in Markdown. A round counts the fastest of its turns. Keys have 16 bytes and come in random order; values have 100.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { EXECUTABLE, FLAGS } from '../test/support/browser.js'
import { bundleOf } from '../test/support/bundles.js'
import { LEVEL_MODULE } from '../test/support/indexeddb.js'

const [entries, rounds] = [Number(process.argv[2] ?? 16_000), Number(process.argv[3] ?? 5)]

const PROGRAM = `
  import { BrowserLevel, IndexedDbLevel } from '/level.js'

  /** So often each work is done in a round, by one database and then by the other, whose order changes each time. */
  const TURNS = 8

  const BATCH = 1000
  const READS = 800
  const PUTS = 50

  /** What is measured: each returns how many operations it has done. \`part\` is a part of the keys for each turn. */
  const works = {
    'batch of 1,000, an entry': async (db, part) => {
      for (let start = 0; start < part.length; start += BATCH) {
        await db.batch(part.slice(start, start + BATCH).map((key) => ({ type: 'put', key, value: valueOf(key) })))
      }
      return part.length
    },
    'loop over an iterator, an entry': async (db) => {
      let count = 0
      for await (const [key] of db.iterator()) if (key !== undefined) count++
      return count
    },
    'iterator().all(), an entry': async (db) => (await db.iterator().all()).length,
    'reverse loop over keys, an entry': async (db) => {
      let count = 0
      for await (const key of db.keys({ reverse: true })) if (key !== undefined) count++
      return count
    },
    'what IndexedDB takes for all, an entry': async (db) => {
      const request = indexedDB.open('level-js-' + db.location)
      await new Promise((resolve) => (request.onsuccess = resolve))
      const store = request.result.transaction(db.location).objectStore(db.location)
      const [keys, values] = [store.getAllKeys(), store.getAll()]
      await new Promise((resolve) => (values.onsuccess = resolve))
      request.result.close()
      return keys.result.length
    },
    'range of 10': async (db, part) => {
      for (let i = 0; i < READS / 10; i++) await db.iterator({ gte: part[i], limit: 10 }).all()
      return READS / 10
    },
    'get, one at a time': async (db, part) => {
      for (let i = 0; i < READS / 4; i++) check(await db.get(part[i]))
      return READS / 4
    },
    'get, 32 at a time': async (db, part) => {
      for (let i = 0; i < READS; i += 32) {
        const wanted = Array.from({ length: 32 }, (_, j) => db.get(part[i + j]))
        for (const value of await Promise.all(wanted)) check(value)
      }
      return READS
    },
    'getMany of 100, a key': async (db, part) => {
      for (let i = 0; i < READS; i += 100) (await db.getMany(part.slice(i, i + 100))).forEach(check)
      return READS
    },
    'put, awaited': async (db, part) => {
      for (let i = 0; i < PUTS; i++) await db.put(part[i], valueOf(part[i]))
      return PUTS
    },
    'put, awaited, sync (browser-level has no such option)': async (db, part) => {
      for (let i = 0; i < PUTS / 2; i++) await db.put(part[i], valueOf(part[i]), { sync: true })
      return PUTS / 2
    },
    'put, 100 at once': async (db, part) => {
      for (let i = 0; i < 8 * PUTS; i += 100) {
        await Promise.all(part.slice(i, i + 100).map((key) => db.put(key, valueOf(key))))
      }
      return 8 * PUTS
    }
  }

  const valueOf = (key) => key.repeat(7).slice(0, 100)

  function check(value) {
    if (value?.length !== 100) throw new Error('not found')
  }

  /** One round: microseconds an operation, of each work and database, in its fastest turn, which other programs disturbed least. */
  export async function round(number, count) {
    const keys = Array.from({ length: count }, (_, i) => String(Math.imul(i + 1, 0x9e3779b1) >>> 0).padStart(16, '0'))
    const dbs = { ours: new IndexedDbLevel('ours ' + number), theirs: new BrowserLevel('theirs ' + number) }
    for (const db of Object.values(dbs)) await db.open()
    const result = {}
    for (const [name, work] of Object.entries(works)) {
      const least = { ours: Infinity, theirs: Infinity }
      for (let turn = 0; turn < TURNS; turn++) {
        const part = keys.slice(count / TURNS * turn, count / TURNS * (turn + 1))
        const order = (turn + number) % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']
        for (const which of order) {
          const begun = performance.now()
          const operations = await work(dbs[which], part)
          least[which] = Math.min(least[which], (performance.now() - begun) * 1000 / operations)
        }
      }
      result[name] = least
    }
    for (const db of Object.values(dbs)) {
      await db.clear()
      await db.close()
    }
    return result
  }
`

async function measure() {
  const files = { '/level.js': await bundleOf(LEVEL_MODULE), '/program.js': PROGRAM }
  const server = createServer(({ url }, response) => {
    const type = url === '/' ? 'text/html' : 'text/javascript'
    response.writeHead(200, { 'content-type': type }).end(files[url] ?? '<!doctype html>')
  }).listen(0, '127.0.0.1')
  const profile = mkdtempSync(join(tmpdir(), 'terrace-bench-'))
  const options = { executablePath: EXECUTABLE, args: FLAGS, headless: true, chromiumSandbox: false }
  const context = await chromium.launchPersistentContext(profile, options)
  try {
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${server.address().port}/`)
    const results = []
    // The first round is to warm up.
    for (let number = 0; number <= rounds; number++) {
      const given = [number, number === 0 ? 8000 : entries]
      const result = await page.evaluate(
        (given) => import('/program.js').then(({ round }) => round(...given)),
        given
      )
      if (number > 0) results.push(result)
    }
    return results
  } finally {
    await context.close()
    server.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1]

const results = await measure()
console.log(`${entries} entries, ${rounds} rounds, µs\n`)
console.log('| | IndexedDbLevel | browser-level 3.0.0 | ratio | of each round |\n|---|---:|---:|---:|---|')
for (const name of Object.keys(results[0])) {
  const of = (which) => results.map((result) => result[name][which])
  const ratios = results.map(({ [name]: { ours, theirs } }) => theirs / ours)
  const cells = [median(of('ours')).toFixed(1), median(of('theirs')).toFixed(1)]
  const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ')
  console.log(`| ${name} | ${cells.join(' | ')} | ${median(ratios).toFixed(2)} | ${each} |`)
}

// A worker writes without pause, its browser is killed, and everything that was acknowledged as stored must be present.

import assert from 'node:assert/strict'
import { ENGINE_POLICY, serveSite } from './site.js'
import { run, siteOf } from './worker-site.js'

/**
 * Writes entry after entry, and reports what was acknowledged; checks the stored entries. `options` are those of the database, as source.
 */
const functionsOf = (options, syncEvery) => `
  const value = (number) => number + ' ' + 'y'.repeat((number * 31) % 2000)
  const key = (number) => String(number).padStart(9, '0')
  const open = async () => {
    const db = new Level('killed', { writeBufferSize: 128 << 10 ${options} })
    await db.open()
    return db
  }
  export async function write(from) {
    const db = await open()
    for (let number = from; ; number++) {
      await db.put(key(number), value(number), { sync: number % ${syncEvery} === 0 })
      if (number % 10 !== 0) continue
      // Nobody waits for the answer, so the end comes during writes.
      fetch('/acknowledged?' + number).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve))
    }
  }
  export async function check() {
    const db = await open()
    let next = 0
    for await (const [found, stored] of db.iterator()) {
      if (found !== key(next) || stored !== value(next)) throw new Error('at ' + next + ' there is ' + found)
      next++
    }
    const { storage } = db
    await db.close()
    return { next, storage }
  }
`

/**
 * Kills a browser so many times while a worker writes. Each time, the acknowledged writes must be there, whether they were flushed or not:
 * the system has them. Resolves with where they were kept.
 *
 * @param browser - Its `open(url)` opens a page, in a new browser after `kill()`, which resolves once the former one is gone.
 * @param options.database - More options of the database, as source that begins with a comma.
 * @param options.syncEvery - Of so many writes one has `sync: true`.
 */
export async function killDuringWrites(t, browser, { rounds, database = '', syncEvery = 50 }) {
  let acknowledged = -1
  let kill
  const files = new Proxy(siteOf(functionsOf(database, syncEvery)), {
    get(site, path) {
      if (!path.startsWith('/acknowledged?')) return site[path]
      acknowledged = Math.max(acknowledged, Number(path.slice(path.indexOf('?') + 1)))
      if (acknowledged >= kill?.at) {
        const { now } = kill
        kill = undefined
        setTimeout(now, Math.random() * 30)
      }
      return ''
    }
  })
  const origin = await serveSite(t, files, ENGINE_POLICY)
  let next = 0
  let place
  for (let round = 0; round < rounds; round++) {
    const page = await browser.open(origin)
    let order
    const killed = new Promise((resolve) => {
      order = { at: next + 300 + 217 * round, now: () => resolve(browser.kill()) }
    })
    kill = order
    const writing = run(page, 'write', [next]).catch((error) => {
      // The end of the browser ends it, and nothing else may.
      if (kill === order) throw error
      return killed
    })
    await Promise.race([killed, writing])
    const after = await browser.open(origin)
    const { next: found, storage } = await run(after, 'check')
    t.diagnostic(`killed after ${acknowledged} was acknowledged: ${found} entries`)
    assert.ok(found > acknowledged, `${found} entries, but ${acknowledged} was acknowledged`)
    next = found
    place = storage
    await browser.close()
  }
  return place
}

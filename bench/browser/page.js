// One round in a page of the browser: every work by every database interleaved.

import { BrowserLevel, IndexedDbLevel, Level } from '/level.js'
import { timed, works } from '/works.js'

/** So often each work is done in a round, by each database in turn; the order changes each time. The fastest counts. */
const TURNS = 8

/** A database that this page uses itself. */
const here = (make) => async (number) => {
  const db = make(`bench ${number}`)
  await db.open()
  return {
    run: (...work) => timed(db, ...work),
    async end() {
      await db.clear()
      await db.close()
    }
  }
}

/** A database that a dedicated worker has for itself. */
async function inWorker(number) {
  const worker = new Worker('/bench-worker.js', { type: 'module' })
  const ask = (...question) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.result))
      worker.onerror = (event) => reject(new Error(event.message))
      worker.postMessage(question)
    })
  await ask('open', `bench in a worker ${number}`)
  return {
    run: (...work) => ask('run', ...work),
    async end() {
      await ask('end')
      worker.terminate()
    }
  }
}

const kinds = {
  // Without files, the first two are in IndexedDB: by way of a worker, and in the page.
  'Level in a page': here((name) => new Level(`${name} in a page`)),
  'Level, shared: false': here((name) => new Level(`${name} in one page`, { shared: false })),
  'Level in a worker': inWorker,
  'Level on IndexedDB': here((name) => new IndexedDbLevel(name)),
  'browser-level': here((name) => new BrowserLevel(`${name} of browser-level`))
}

/**
 * Returns for each database its lines: `name`, `ops`, `seconds`, `microsPerOp`.
 *
 * @param lacks - The kinds of database that the browser does not have.
 */
export async function round(number, count, lacks) {
  const names = Object.keys(kinds).filter((name) => !lacks.includes(name))
  const databases = {}
  for (const name of names) databases[name] = await kinds[name](number)
  const lines = Object.fromEntries(names.map((name) => [name, []]))
  for (const work of Object.keys(works)) {
    const fastest = {}
    for (let turn = 0; turn < TURNS; turn++) {
      const bounds = [(count / TURNS) * turn, (count / TURNS) * (turn + 1)].map(Math.floor)
      for (let i = 0; i < names.length; i++) {
        const name = names[(i + turn + number) % names.length]
        const { ops, seconds } = await databases[name].run(work, ...bounds)
        const microsPerOp = (seconds * 1e6) / ops
        if (!(fastest[name]?.microsPerOp <= microsPerOp))
          fastest[name] = { name: work, ops, seconds, microsPerOp }
      }
    }
    for (const name of names) lines[name].push(fastest[name])
  }
  for (const name of names) await databases[name].end()
  return lines
}

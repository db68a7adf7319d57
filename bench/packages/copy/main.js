// How fast databases are copied, beside a loop that reads and writes batches:
//
//   node bench/packages/copy/main.js [ENTRIES] [ROUNDS]
//
// Each figure is that of the fastest of the rounds, which take turns: entries per second, and the peak memory of the process.
// LMDB's commits wait for the disk of the temporary directory (TMPDIR).

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { LmdbLevel } from 'terrace-lmdb'
import { copy } from 'terrace-toolbox/copy'

const [entries = 1_000_000, rounds = 3] = process.argv.slice(2).map(Number)
const view = { keyEncoding: 'view', valueEncoding: 'view' }
const BATCH = 1000
const MIB = 2 ** 20

/** Keys of 16 bytes, values of 100 of which half compress. */
async function fill(db) {
  for (let first = 0; first < entries; first += BATCH) {
    await db.batch(
      Array.from({ length: Math.min(BATCH, entries - first) }, (_, index) => ({
        type: 'put',
        key: String(first + index).padStart(16, '0'),
        value: Math.random().toString(36).slice(2).padEnd(11, '0').repeat(5).slice(0, 50) + 'x'.repeat(50)
      }))
    )
  }
  await db.compactRange('0', '~')
}

async function plainLoop(from, to) {
  let batch = []
  for await (const [key, value] of from.iterator(view)) {
    batch.push({ type: 'put', key, value })
    if (batch.length < BATCH) continue
    await to.batch(batch, view)
    batch = []
  }
  await to.batch(batch, view)
}

const ways = {
  'plain loop': plainLoop,
  'copy, not verified': (from, to) => copy(from, to, { verify: false }),
  copy: (from, to) => copy(from, to),
  'overwriting the same': (from, to) => copy(from, to, { existing: 'overwrite' })
}

/** Runs `work`, and returns its seconds and the most memory meanwhile, in MiB. */
async function measured(work) {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 50)
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  clearInterval(timer)
  return { seconds, mib: peak / MIB }
}

const directory = mkdtempSync(join(tmpdir(), 'terrace-copy-bench-'))
try {
  const from = new Level(join(directory, 'from'))
  await fill(from)
  const results = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const [target, Database] of Object.entries({ Level, LmdbLevel })) {
      const path = join(directory, 'to')
      for (const [way, work] of Object.entries(ways)) {
        const isFull = way === 'overwriting the same'
        if (!isFull) rmSync(path, { recursive: true, force: true })
        const to = new Database(path)
        await to.open()
        const key = `Level → ${target} | ${way}`
        const all = results.get(key) ?? []
        all.push(await measured(() => work(from, to)))
        results.set(key, all)
        await to.close()
      }
      rmSync(path, { recursive: true, force: true })
    }
  }
  await from.close()

  console.log('| | | entries a second | MiB |\n|---|---|---:|---:|')
  for (const [key, all] of results) {
    const { seconds, mib } = all.sort((a, b) => a.seconds - b.seconds)[0]
    const speed = Math.round(entries / seconds / 1000)
    console.log(`| ${key} | ${speed},000 | ${Math.round(mib)} |`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

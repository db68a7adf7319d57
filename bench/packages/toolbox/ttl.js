// The cost of removing entries that all expire at once: `node bench/packages/toolbox/ttl.js [entries]`. A timer of 1 ms shows
// how late the event loop is meanwhile.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHistogram } from 'node:perf_hooks'
import { Level } from 'terrace'
import { ttl } from 'terrace-toolbox/ttl'

const BATCH_ENTRIES = 1000
const entries = Number(process.argv[2] ?? 1_000_000)

const directory = mkdtempSync(join(tmpdir(), 'terrace-ttl-bench-'))
const db = new Level(join(directory, 'db'))
let time = 1
const sessions = ttl(db.sublevel('sessions'), { checkIntervalMs: Infinity, now: () => time })
await sessions.open()

const keyOf = (i) => `session ${String((i * 7919) % entries).padStart(9, '0')}`
for (let i = 0; i < entries; i += BATCH_ENTRIES) {
  const operations = Array.from({ length: BATCH_ENTRIES }, (_, j) => {
    return { type: 'put', key: keyOf(i + j), value: 'x'.repeat(100) }
  })
  await sessions.batch(operations, { ttlMs: 1000 })
}
time += 2000

const lateness = createHistogram()
let isSwept = false
async function watch() {
  while (!isSwept) {
    const began = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 1))
    lateness.record(Math.max(1, Math.round((performance.now() - began - 1) * 1000)))
  }
}

const watched = watch()
const cpu = process.cpuUsage()
const began = performance.now()
const removed = await sessions.removeExpired()
const took = performance.now() - began
const { user, system } = process.cpuUsage(cpu)
isSwept = true
await watched

const ms = (us) => (us / 1000).toFixed(1)
console.log(`${removed} removed, ${((took / removed) * 1000).toFixed(1)} µs each`)
console.log(`${((user + system) / removed).toFixed(1)} µs of all processors each`)
const [p50, p99] = [50, 99].map((percent) => ms(lateness.percentile(percent)))
console.log(`the loop is late by ${p50} ms (p50), ${p99} ms (p99), ${ms(lateness.max)} ms at most`)

await db.close()
rmSync(directory, { recursive: true })

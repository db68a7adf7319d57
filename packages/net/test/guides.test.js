// The README and the guide: their programs do what their comments say, and their tables are complete.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { createServer } from 'terrace-net/server'
import { socketIn } from '../../../tests/support/sockets.mjs'
import { check, programsIn } from './support/examples.js'
import { parse } from './support/prometheus.js'

const readme = new URL('../README.md', import.meta.url)
const guide = new URL('../../../docs/sharing.md', import.meta.url)

function directory(t) {
  const path = mkdtempSync(join(tmpdir(), 'terrace-guides-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('the example of the README prints what it says', (t) => {
  const [program] = programsIn(readme)
  check(program, { "'./shop'": JSON.stringify(join(directory(t), 'shop')) })
})

test('the examples of the guide print what they say', (t) => {
  const programs = programsIn(guide)
  assert.equal(programs.length, 5)
  const [shared, local, conditional, ...others] = programs
  check(shared, { "'./shop'": JSON.stringify(join(directory(t), 'shop')) })
  check(local, { "'unix:./shop.sock'": JSON.stringify(`unix:${socketIn(directory(t))}`) })
  check(conditional, { "'./visits'": JSON.stringify(join(directory(t), 'visits')) })
  for (const program of others) check(program)
})

test('the guide lists each metric with its type and labels', async (t) => {
  const db = new MemoryLevel()
  const server = createServer(db)
  t.after(() => server.close())
  const base = await server.serveMetrics('127.0.0.1:0')
  const shown = parse(await (await fetch(`${base}/metrics`)).text())

  const rows = readFileSync(guide, 'utf8').matchAll(/^\| (`terrace_net_.*?) \| (\w+) \| (.*)\|$/gm)
  const cells = (text) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  const listed = [...rows].flatMap(([, names, type, labels]) =>
    cells(names).map((name) => [name, type, cells(labels)])
  )
  assert.deepEqual(
    listed.map(([name, type]) => [name, type]).sort(),
    [...shown.values()].map(({ name, type }) => [name, type]).sort()
  )
  for (const [name, , labels] of listed) {
    const used = new Set(shown.get(name).samples.flatMap((sample) => Object.keys(sample.labels)))
    if (shown.get(name).samples.length > 0) assert.deepEqual([...used].sort(), labels.toSorted(), name)
  }
})

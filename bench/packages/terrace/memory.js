// What MemoryLevel takes per entry beside memory-level. Each run is a separate process; the classes take turns.
//
//   node bench/packages/terrace/memory.js [ROUNDS] [ENTRIES]

import { spawnSync } from 'node:child_process'
import { appendFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [rounds = '3', entries = '1000000'] = process.argv.slice(2)
const child = fileURLToPath(new URL('memory-child.js', import.meta.url))
const results = fileURLToPath(new URL('../../results/memory.jsonl', import.meta.url))

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1]

rmSync(results, { force: true })
const lines = []
for (let round = 0; round < Number(rounds); round++) {
  for (const valueBytes of ['100', '20']) {
    for (const order of ['random', 'sorted']) {
      const names = ['MemoryLevel', 'memory-level']
      for (const name of round % 2 === 0 ? names : names.reverse()) {
        const { stdout, stderr } = spawnSync(
          process.execPath,
          ['--expose-gc', '--max-old-space-size=8192', child, name, entries, valueBytes, order],
          { encoding: 'utf8', timeout: 300_000 }
        )
        if (stdout === '') throw new Error(stderr)
        appendFileSync(results, stdout)
        lines.push(JSON.parse(stdout))
      }
    }
  }
}

console.log('| value, order | database | resident, per entry | heap, per entry | put, awaited |')
console.log('|---|---|---:|---:|---:|')
for (const valueBytes of [100, 20]) {
  for (const order of ['random', 'sorted']) {
    for (const name of ['MemoryLevel', 'memory-level']) {
      const runs = lines.filter(
        (line) => line.valueBytes === valueBytes && line.order === order && line.name === name
      )
      const of = (field) => median(runs.map((run) => run[field]))
      console.log(
        `| ${valueBytes} bytes, ${order} | ${name} | ${of('rssBytes')} B | ${of('heapBytes')} B | ${of('microsPerPut')} µs |`
      )
    }
  }
}

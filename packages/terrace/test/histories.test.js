// Random histories of writes against a model: short here, long with TERRACE_HISTORIES=10000.

import { test } from 'node:test'
import { runHistory } from './support/histories.js'

const count = Number(process.env.TERRACE_HISTORIES ?? 80)
const first = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

test(`${count} random histories of writes end, and leave what the model says (TERRACE_SEED=${first})`, async (t) => {
  let calls = 0
  for (let seed = first; seed < first + count; seed++) calls += await runHistory(seed)
  t.diagnostic(`${calls} calls`)
})

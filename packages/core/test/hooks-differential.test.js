// Random programs of hooks do the same over each back-end as on classic-level and memory-level. More with TERRACE_HOOK_PROGRAMS=10000.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { scaled } from '../../../tests/support/form.mjs'
import { kindsOf, temporaryDirectory } from './support/databases.js'
import { runProgram } from './support/hook-programs.js'

const count = Number(process.env.TERRACE_HOOK_PROGRAMS ?? scaled(80))
const first = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

const comparisons = {
  'classic-level': {
    encodings: ['utf8', 'json', 'buffer', 'view'],
    make: (directory) => new ClassicLevel(directory)
  },
  'memory-level': { encodings: ['utf8', 'json'], make: () => new MemoryLevel({ storeEncoding: 'utf8' }) }
}

for (const [name, { encodings, make }] of Object.entries(comparisons)) {
  test(`${count} random programs of hooks do the same as on ${name} (TERRACE_SEED=${first})`, async (t) => {
    const directory = temporaryDirectory(t)
    let length = 0

    for (let seed = first; seed < first + count; seed++) {
      const expected = await trace(make(join(directory, `${seed}-other`)), seed, encodings)
      for (const [kind, { make }] of kindsOf()) {
        const found = await trace(make(t), seed, encodings)
        assert.deepEqual(found, expected, `program ${seed} over ${kind}`)
        length += found.length
      }
    }

    assert.ok(length > 10 * count)
    t.diagnostic(`${length} lines of traces`)
  })
}

async function trace(db, seed, encodings) {
  await db.open()
  try {
    return await runProgram(db, seed, encodings)
  } finally {
    await db.close()
  }
}

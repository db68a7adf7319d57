// Makes iterators until the stack overflows.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'

const db = new Level(mkdtempSync(join(tmpdir(), 'terrace-test-')))
await db.open()
let depth = 0

function recurse() {
  depth++
  db.iterator({ gte: '0' })
  recurse()
}

try {
  recurse()
} catch (error) {
  process.send(`${error.name} at depth ${depth}`, () => process.disconnect())
}

// `make node-leaks` does the same a hundred times as often.
//
// In the full form only: it does each operation thirty thousand times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growth, measureLeaks } from './support/leaks.js'

test('no operation leaves memory behind', async () => {
  const left = await measureLeaks(3000, 10)

  // 3,000 times the smallest possible leak in bytes, and the variation of the heap.
  assert.ok(growth(left, 'heapUsed') < 1e6, JSON.stringify(left))
  assert.ok(growth(left, 'arrayBuffers') < 1e6, JSON.stringify(left))
  assert.ok(growth(left, 'rss') < 32e6, JSON.stringify(left))
})

// Conditions over the modules of a browser: terrace-core's tests over a tab, whose worker has a database in memory, and that database alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeStore } from '../support/page.js'

process.env.TERRACE_TEST_DATABASE = new URL('../support/tab-target.js', import.meta.url).href
await import('../../../core/test/conditional-writes.test.js')

test('a snapshot of another database is refused by a database in memory', async () => {
  const [store, other] = [await makeStore(), await makeStore()]
  const snapshot = other.snapshot()
  const conditions = [{ kind: 'unchanged', range: {}, snapshot }]
  assert.throws(() => store.writeIf(conditions, ['a', '1']), { code: 'LEVEL_INVALID_ARGUMENT' })
  assert.equal(store.getSync('a', {}), undefined)
})

test('conditions of all sizes are checked, and too many bytes of them are refused', async () => {
  const store = await makeStore()
  const large = new Uint8Array(50 << 20).fill(1)
  const changed = large.slice()
  changed[changed.length - 1] = 2
  store.writeSync(['large', large, 'é', 'ü'.repeat(300_000)], false)
  const equals = (key, value) => ({ kind: 'equals', key, value })
  store.writeIf([equals('large', large), equals('é', 'ü'.repeat(300_000))], ['a', '1'])
  assert.throws(() => store.writeIf([equals('large', changed), equals('é', 'ü')], ['a', '2']), {
    code: 'LEVEL_CONFLICT',
    conditions: [0, 1]
  })
  const many = Array.from({ length: 11 }, () => equals('large', large))
  assert.throws(() => store.writeIf(many, ['a', '2']), { code: 'LEVEL_INVALID_ARGUMENT' })
  assert.equal(store.getSync('a', { valueEncoding: 'utf8' }), '1')
})

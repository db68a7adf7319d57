import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of index is right', () => checkCodes(guideOf('index'), 'index', 'TOOLBOX'))

test('the example of index runs', () => {
  const output = checkExample('index')
  assert.match(output, /TOOLBOX_UNIQUE/)
  assert.match(output, /after rebuild\(\): \{ records: 2, entries: 2, missing: 0, stale: 0, wrong: 0 \}/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of feed is right', () => checkCodes(guideOf('feed'), 'feed', '(?:FEED|COUNT)'))

test('the example of feed runs', () => {
  const output = checkExample('feed')
  assert.match(output, /replicated 2 change\(s\) up to 2\n/)
  assert.match(output, /in the copy: apple, kale, pear\nfruit 2\nvegetable 1\n$/)
})

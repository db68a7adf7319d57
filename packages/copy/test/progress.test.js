// What is shown of the progress, by a clock that the test holds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdClock } from '../../../tests/support/clock.mjs'
import { ProgressDisplay } from '../dist/progress.js'

test('nothing in the first second, and a rate once there was time for one', (t) => {
  const clock = holdClock(t)
  let shown = ''
  const display = new ProgressDisplay({ isTTY: false, write: (text) => (shown += text) }, (line) => line)
  t.after(() => display.end())
  const copied = (entries) => display.update({ phase: 'copying', entries, bytes: entries * 1000 })

  display.begin('opening a')
  clock.advance(999)
  assert.equal(shown, '')
  clock.advance(1)
  assert.equal(shown, 'opening a\n')
  // A line every five seconds. The copy begins just before the second one.
  clock.advance(4990)
  copied(1000)
  clock.advance(10)
  assert.equal(shown, 'opening a\ncopying 1,000 entries, 1.0 MB\n')
  copied(5010)
  clock.advance(5000)
  assert.equal(shown.split('\n').at(-2), 'copying 5,010 entries, 5.0 MB, 1,000/s')
})

// Runs the test suite that abstract-level publishes, unmodified, against Level.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'

const require = createRequire(import.meta.url)
const test = require('tape')
const suite = require('abstract-level/test')

// As many as the suite registers for classic-level 3.0.0; abstract-level may add more.
const EXPECTED_TESTS = 1509

const parent = mkdtempSync(join(tmpdir(), 'terrace-suite-'))
let registered = 0

suite({
  test: Object.assign((...args) => {
    registered++
    return test(...args)
  }, test),
  factory: (options) => new Level(mkdtempSync(join(parent, 'db-')), options)
})

test('the suite registers every test that it registers for classic-level', (t) => {
  t.ok(registered >= EXPECTED_TESTS, `${registered} tests registered`)
  t.end()
})

process.on('exit', () => rmSync(parent, { recursive: true, force: true }))

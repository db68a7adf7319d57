// Runs the published test suite of abstract-level, unmodified, against Level; or, with the argument `sublevels`, against a
// sublevel three deep.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'

const require = createRequire(import.meta.url)
const test = require('tape')
const suite = require('abstract-level/test')

// As many as the suite registers for classic-level 3.0.0. abstract-level may add more. Some are about options of open().
const EXPECTED_TESTS = { databases: 1509, sublevels: 1506 }

const kind = process.argv[2] === 'sublevels' ? 'sublevels' : 'databases'
const parent = mkdtempSync(join(tmpdir(), 'terrace-suite-'))
const newDirectory = () => mkdtempSync(join(parent, 'db-'))
const factories = {
  databases: (options) => new Level(newDirectory(), options),
  sublevels: (options) => new Level(newDirectory()).sublevel('a').sublevel(['b', 'c'], options)
}
let registered = 0

suite({
  test: Object.assign((...args) => {
    registered++
    return test(...args)
  }, test),
  factory: factories[kind]
})

test(`the suite registers every test for ${kind} that it registers for classic-level`, (t) => {
  t.ok(registered >= EXPECTED_TESTS[kind], `${registered} tests registered`)
  t.end()
})

process.on('exit', () => rmSync(parent, { recursive: true, force: true }))

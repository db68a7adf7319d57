// Runs the published test suite of abstract-level, unmodified, against views whose entries expire: views of sublevels of the
// named database.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { ttl } from 'terrace-toolbox/ttl'

const require = createRequire(import.meta.url)
const tape = require('tape')
const suite = require('abstract-level/test')

const parent = mkdtempSync(join(tmpdir(), 'terrace-toolbox-suite-'))
process.on('exit', () => rmSync(parent, { recursive: true, force: true }))

const databases = {
  terrace: (options) => new Level(mkdtempSync(join(parent, 'db-')), options),
  'classic-level': (options) => new ClassicLevel(mkdtempSync(join(parent, 'db-')), options),
  'memory-level': (options) => new MemoryLevel(options)
}
const open = databases[process.argv[2]]

suite({
  test: tape,
  factory: (options) => ttl(open(options).sublevel('entries'), options)
})

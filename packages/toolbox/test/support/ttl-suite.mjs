// Runs the test suite that abstract-level publishes, unmodified, against views whose entries expire.

import { createRequire } from 'node:module'
import { MemoryLevel } from 'memory-level'
import { ttl } from 'terrace-toolbox/ttl'

const require = createRequire(import.meta.url)
const tape = require('tape')
const suite = require('abstract-level/test')

suite({
  test: tape,
  factory: (options) => ttl(new MemoryLevel(options).sublevel('entries'), options)
})

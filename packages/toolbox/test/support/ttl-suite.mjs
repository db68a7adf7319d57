// Runs the published test suite of abstract-level, unmodified, against views whose entries expire: views of sublevels of the
// named database, in a directory.

import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { ttl } from 'terrace-toolbox/ttl'

const require = createRequire(import.meta.url)
const tape = require('tape')
const suite = require('abstract-level/test')

const [name, parent] = process.argv.slice(2)

const databases = {
  terrace: (options) => new Level(mkdtempSync(join(parent, 'db-')), options),
  'classic-level': (options) => new ClassicLevel(mkdtempSync(join(parent, 'db-')), options),
  'memory-level': (options) => new MemoryLevel(options)
}

// As in databases.js.
const { TERRACE_TEST_DATABASE: other } = process.env
if (other !== undefined) {
  const { name: named, Database } = await import(other)
  databases[named] = (options) => new Database(join(mkdtempSync(join(parent, 'db-')), 'db'), options)
}
const open = databases[name]

/** Nothing expires in the suite, which leaves hundreds of views open: for some stores it would be much to look for it in each. */
const seldom = other === undefined ? {} : { checkIntervalMs: Number.POSITIVE_INFINITY }

/** The views whose databases are still open. A view does not close its database, and hundreds of open ones are much to do for some stores. */
const views = new Map()

function makeView(options) {
  closeUnused()
  const db = open(options)
  const view = ttl(db.sublevel('entries'), { ...options, ...seldom })
  views.set(view, db)
  return view
}

function closeUnused() {
  for (const [view, db] of views) {
    if (view.status !== 'closed') continue
    views.delete(view)
    // Some tests have a hook that makes closing fail.
    db.close().catch(() => {})
  }
}

suite({ test: tape, factory: makeView })

// Some tests leave their database open, and with it perhaps connections.
let hasFailed = false
tape.onFailure(() => {
  hasFailed = true
})
tape.onFinish(() => process.exit(hasFailed ? 1 : 0))

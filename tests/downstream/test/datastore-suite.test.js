// The suite that js-ipfs publishes for its datastores, unmodified, on datastore-level with Level.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { LevelDatastore } from 'datastore-level'
import { interfaceDatastoreTests } from 'interface-datastore-tests'
import { Level } from 'terrace'

// The suite is written for mocha, which has these as globals and lets a test set its own time limit.
const it = (name, run) => test(name, () => run.call({ timeout() {} }))
Object.assign(globalThis, { after, afterEach, before, beforeEach, describe, it })

describe('interface-datastore-tests', () => {
  interfaceDatastoreTests({
    async setup() {
      const directory = mkdtempSync(join(tmpdir(), 'terrace-clients-'))
      const store = new LevelDatastore(new Level(directory, { keyEncoding: 'utf8', valueEncoding: 'view' }))
      await store.open()
      return store
    },

    async teardown(store) {
      await store.close()
      rmSync(store.db.location, { recursive: true })
    }
  })
})

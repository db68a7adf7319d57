// The package as npm would publish it, and its README. Long, because npm packs and installs it.

import { join } from 'node:path'
import { test } from 'node:test'
import { testPackage } from '../../../../tests/support/back-ends/package.mjs'
import { temporaryDirectory } from './support/databases.js'

testPackage({
  test,
  directory: 'lmdb',
  className: 'LmdbLevel',
  replaced: async (t) => ({ "'./shop'": JSON.stringify(join(temporaryDirectory(t), 'shop')) }),
  location: async (t) => temporaryDirectory(t)
})

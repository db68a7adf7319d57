// The package as npm would publish it, and its README. Long, because npm packs and installs it.

import { testPackage } from '../../../../tests/support/back-ends/package.mjs'
import { test, theServer } from './support/databases.js'

const url = async () => (await theServer()).url

testPackage({
  test,
  directory: 'mysql',
  className: 'MysqlLevel',
  replaced: async () => ({ 'mysql://shop:secret@10.0.0.1,10.0.0.2,10.0.0.3/shop': await url() }),
  location: url
})

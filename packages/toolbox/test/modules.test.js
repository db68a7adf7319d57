import { testSameExports } from '../../../tests/support/same-exports.mjs'

const PARTS = ['copy', 'feed', 'index', 'lock', 'streams', 'transaction', 'ttl']

testSameExports(...PARTS.map((part) => `terrace-toolbox/${part}`))

import { testSameExports } from '../../../tests/support/same-exports.mjs'

testSameExports('terrace-core')

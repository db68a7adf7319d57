import { test } from 'node:test'
import { checkCodes, checkExample, checkGuide } from '../support/guides.js'

test('the guide of transaction is right', () =>
  checkCodes(checkGuide('transaction', 3), 'transaction', 'TRANSACTION'))

test('the example of transaction runs', () => checkExample('transaction'))

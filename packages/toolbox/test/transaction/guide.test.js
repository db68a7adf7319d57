import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of transaction is right', () =>
  checkCodes(guideOf('transaction'), 'transaction', 'TRANSACTION'))

test('the example of transaction runs', () => checkExample('transaction'))

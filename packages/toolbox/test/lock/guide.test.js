import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of lock is right', () => checkCodes(guideOf('lock'), 'lock', 'LOCK'))

test('the example of lock runs', () => checkExample('lock'))

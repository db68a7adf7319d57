import { test } from 'node:test'
import { checkCodes, checkExample, checkGuide } from '../support/guides.js'

test('the guide of lock is right', () => checkCodes(checkGuide('lock', 1), 'lock', 'LOCK'))

test('the example of lock runs', () => checkExample('lock'))

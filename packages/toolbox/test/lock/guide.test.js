import { test } from 'node:test'
import { checkCodes, checkExample, checkGuide } from '../support/guides.js'

test('the guide of lock says what is so', () => checkCodes(checkGuide('lock', 1), 'lock', 'LOCK'))

test('the example of lock runs', () => checkExample('lock'))

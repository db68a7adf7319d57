import { test } from 'node:test'
import { checkCodes, checkExample, checkGuide } from '../support/guides.js'

test('the guide of streams is right', () => checkCodes(checkGuide('streams', 1), 'streams', 'STREAM'))

test('the example of streams runs', () => checkExample('streams'))

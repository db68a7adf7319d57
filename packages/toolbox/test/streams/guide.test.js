import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of streams is right', () => checkCodes(guideOf('streams'), 'streams', 'STREAM'))

test('the example of streams runs', () => checkExample('streams'))

import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of copy is right', () => checkCodes(guideOf('copy'), 'copy', '(?:COPY|DUMP)'))

test('the example of copy runs', () => checkExample('copy'))

import { test } from 'node:test'
import { checkCodes, checkExample, checkGuide } from '../support/guides.js'

test('the guide of copy is right', () => checkCodes(checkGuide('copy', 1), 'copy', '(?:COPY|DUMP)'))

test('the example of copy runs', () => checkExample('copy'))

import { test } from 'node:test'
import { checkCodes, checkExample, checkGuide } from '../support/guides.js'

test('the guide of ttl is right', () => checkCodes(checkGuide('ttl', 1), 'ttl', 'TTL'))

test('the example of ttl runs', () => checkExample('ttl'))

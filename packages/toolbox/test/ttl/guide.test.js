import { test } from 'node:test'
import { checkCodes, checkExample, guideOf } from '../support/guides.js'

test('the guide of ttl is right', () => checkCodes(guideOf('ttl'), 'ttl', 'TTL'))

test('the example of ttl runs', () => checkExample('ttl'))

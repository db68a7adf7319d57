// Random keys, compared with npm bytewise 1.1.0. `make bytewise-differential` compares a million.

import { test } from 'node:test'
import { scaled } from '../../../tests/support/form.mjs'
import { compare } from './support/differential.js'

test('the bytes, and what they are decoded to, are those of npm bytewise', () => {
  for (const seed of [1, 2, 3, 4]) compare(scaled(5000), seed)
})

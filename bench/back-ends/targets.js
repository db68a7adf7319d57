// The databases that are compared: those of each back-end, and clients in front of some.

import { fileURLToPath } from 'node:url'
import { described } from '../../tests/back-ends/targets.js'

const module = (name) => fileURLToPath(new URL(`targets/${name}.js`, import.meta.url))

/** @type {import('../../tests/back-ends/targets.js').Measured[]} */
export const targets = [
  ...described.flatMap(({ measured }) => measured),
  { name: 'NetLevel in front of Level', from: module('net-level') },
  { name: 'NetLevel in front of MemoryLevel', from: module('net-memory') }
]

// Keys and values as LMDB stores them.

import { test } from 'node:test'
import { MAX_KEY_SIZE_BYTES } from 'terrace-lmdb'
import { testKeys, testValues } from '../../../../tests/support/back-ends/keys.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { openLevel } from './support/databases.js'

const histories = { rounds: 1, writes: 300, ranges: scaled(1000, 200) }
testKeys({ test, openLevel, longestBytes: MAX_KEY_SIZE_BYTES, isSync: true, histories })

// lmdb shows values of 16 MiB and more in its map instead of copying them.
testValues({ test, openLevel, isSync: true, sizes: [0, 1, 4096, 70_000, 16 << 20, 20_000_000] })

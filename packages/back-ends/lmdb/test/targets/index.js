// What tests/back-ends runs over, and bench/back-ends measures.

import { LmdbLevel } from 'terrace-lmdb'

/** @type {import('../../../../../tests/back-ends/targets.js').Target[]} */
export const targets = [
  {
    name: 'LmdbLevel',
    machines: 'one',
    supports: { getSync: true, putSync: false, everyWrite: true, conditionalWrites: true },
    make: (location, options) => new LmdbLevel(location, options),
    several: { shared: true },
    known: {
      ttl: [{ test: 'histories at random with a view', reason: 'it takes minutes', is: 'left out' }],
      feed: [
        {
          test: 'by count, in the background',
          reason: 'it assumes that trimming is slower than three writes',
          is: 'may fail'
        }
      ]
    }
  }
]

/** @type {import('../../../../../tests/back-ends/targets.js').Measured[]} */
export const measured = [{ name: 'LmdbLevel', from: 'terrace-lmdb' }]

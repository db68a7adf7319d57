// What tests/back-ends runs over, and bench/back-ends measures.

import { fileURLToPath } from 'node:url'
import { Level, MemoryLevel } from 'terrace'

const NO_WAIT = 'it requires a read or write that waits, but MemoryLevel completes within the call'

const supports = { getSync: true, putSync: true, everyWrite: true, conditionalWrites: true }

/** @type {import('../../../../tests/back-ends/targets.js').Target[]} */
export const targets = [
  {
    name: 'Level',
    machines: 'one',
    supports,
    make: (location, options) => new Level(location, options),
    several: { shared: true },
    known: {}
  },
  {
    name: 'MemoryLevel',
    machines: 'one',
    supports,
    make: (_, options) => new MemoryLevel(options),
    several: {},
    known: {
      core: [
        { test: 'a snapshot is not kept open while has() and hasMany() read from it', reason: NO_WAIT },
        {
          test: 'a synchronous write comes before what functions call while it waits for earlier ones',
          reason: NO_WAIT
        },
        {
          test: 'after close() nothing more is written, though it still waits for earlier writes',
          reason: NO_WAIT
        },
        { test: 'a synchronous write does not hold up the event loop', reason: NO_WAIT },
        {
          test: 'of calls that wait together, one that cannot be written fails alone',
          reason: "it assumes the engine's limit on keys for every back-end"
        }
      ],
      ttl: [{ test: 'histories at random with a view', reason: 'it takes minutes', is: 'left out' }]
    }
  }
]

/** @type {import('../../../../tests/back-ends/targets.js').Measured[]} */
export const measured = [
  { name: 'Level', from: 'terrace' },
  { name: 'MemoryLevel', from: fileURLToPath(new URL('measured-memory.js', import.meta.url)) }
]

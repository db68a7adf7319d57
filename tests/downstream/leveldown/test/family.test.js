// The packages around levelup: each promise of their READMEs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { both } from './support/both.js'

/** The programs, what they are run with, and the last thing that they print. */
const PROGRAMS = [
  ['level.js', /^repaired: /m, [['level-4'], ['level-5'], ['level-6'], ['level-7']]],
  ['level-mem.js', /^opened again: /m, [['level-mem-4'], ['level-mem-5'], ['level-mem']]],
  ['packager.js', /^memory: /m, [['level-packager-4'], ['level-packager-5'], ['level-packager']]],
  ['deferred.js', /^close: /m, [['deferred-leveldown-5'], ['deferred-leveldown']]],
  [
    'encodings.js',
    /^undefined: /m,
    [
      ['encoding-down-5', 'levelup-2'],
      ['encoding-down-5', 'levelup-3'],
      ['encoding-down-6', 'levelup-4'],
      ['encoding-down', 'levelup']
    ]
  ],
  [
    'streams.js',
    /^failed: /m,
    [['level-iterator-stream-2'], ['level-iterator-stream-4'], ['level-iterator-stream']]
  ],
  [
    'sublevel.js',
    /^close: undefined$/m,
    [
      ['level-sublevel-5', 'levelup-0.18'],
      ['level-sublevel', 'levelup-0.19'],
      ['level-sublevel', 'levelup-1']
    ]
  ],
  [
    'sublevels.js',
    /^closed: /m,
    [
      ['subleveldown-2', 'levelup-2', 'encoding-down-5'],
      ['subleveldown-3', 'levelup-3', 'encoding-down-5'],
      ['subleveldown-4', 'levelup-4', 'encoding-down-6'],
      ['subleveldown-5', 'levelup-4', 'encoding-down-6'],
      ['subleveldown', 'levelup', 'encoding-down']
    ]
  ],
  [
    'multilevel.js',
    /^close: undefined$/m,
    [
      ['multilevel', 'levelup-0.18'],
      ['multilevel', 'levelup-1'],
      ['multilevel/msgpack', 'levelup-1']
    ]
  ],
  [
    'multileveldown.js',
    /^close: undefined$/m,
    [
      ['multileveldown-3', 'levelup-4', 'encoding-down-6'],
      ['multileveldown', 'levelup', 'encoding-down']
    ]
  ],
  ['party.js', /^left: 0$/m, [['level-party-4'], ['level-party']]],
  ['ttl.js', /^close: undefined undefined$/m, [['levelup-4'], ['levelup']]]
]

for (const [program, last, choices] of PROGRAMS) {
  for (const args of choices) {
    test(`${program}: ${args.join(', ')}`, async (t) => {
      assert.match(await both(t, program, ...args), last)
    })
  }
}

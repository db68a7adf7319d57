// What runs in the Node of Windows. `isShort` ones are a part of `make test`. `known` tests of a job do not hold in wine, each for the
// reason given.

import { NOT_IN, ownTests } from '../own-tests.mjs'

/** Files of the package's own tests that are a part of `make test`. */
const SHORT = [
  'close',
  'iterator',
  'kills',
  'lock',
  'maintenance',
  'not-open',
  'open',
  'operations',
  'threads'
]

/** What is special about some files. */
const MORE = { kills: { shortEnvironment: { TERRACE_KILLS: '10' } } }

const TESTS = ['--expose-gc', '--test-reporter=tap']

export const jobs = [
  ...ownTests()
    .filter((name) => !(name in NOT_IN.Windows))
    .map((name) => ({
      name,
      script: `packages/terrace/test/${name}.test.js`,
      flags: TESTS,
      isShort: SHORT.includes(name),
      ...MORE[name]
    })),
  ...['databases', 'sublevels', 'memory'].map((kind) => ({
    name: `abstract-level's suite, ${kind}`,
    script: 'packages/terrace/test/suite/run.mjs',
    args: [kind, '--tap'],
    least: 4_600
  })),
  {
    name: 'beside classic-level',
    script: 'tests/platforms/beside/classic-level.test.js',
    flags: TESTS,
    isShort: true,
    least: 4
  },
  {
    name: 'paths and programs in the way',
    script: 'tests/platforms/windows/test/paths.test.js',
    flags: TESTS,
    isShort: true,
    least: 4
  },
  {
    name: 'the program by its launcher',
    script: 'tests/platforms/windows/test/program.test.js',
    flags: TESTS
  }
]

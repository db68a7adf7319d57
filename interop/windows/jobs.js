// What runs in the Node of Windows. `isShort` ones are a part of `make test`.

/**
 * Tests of packages/terrace, in a file each; `known` ones do not hold in wine, for the reason given. Two are not among them: `descriptors` sets
 * the limits of a Unix, and `package` starts npm and compilers, which have no part in the addon.
 */
const own = {
  'beside-writer': {},
  binding: {},
  chromium: {},
  close: { isShort: true },
  exit: {},
  'few-threads': {},
  garbage: {},
  iterator: { isShort: true },
  kills: { isShort: true, shortEnvironment: { TERRACE_KILLS: '10' } },
  leaks: {},
  lock: { isShort: true },
  maintenance: { isShort: true },
  'not-open': { isShort: true },
  open: { isShort: true },
  operations: { isShort: true },
  'memory/basics': {},
  'memory/garbage': {},
  'memory/histories': {},
  'memory/life': {},
  'memory/limit': {},
  'read-only': {},
  refresh: {},
  shared: {},
  threads: { isShort: true }
}

const TESTS = ['--expose-gc', '--test-reporter=tap']

export const jobs = [
  ...Object.entries(own).map(([name, more]) => ({
    name,
    script: `packages/terrace/test/${name}.test.js`,
    flags: TESTS,
    ...more
  })),
  ...['databases', 'sublevels', 'memory'].map((kind) => ({
    name: `abstract-level's suite, ${kind}`,
    script: 'packages/terrace/test/suite/run.mjs',
    args: [kind],
    least: 4_600
  })),
  {
    name: 'beside classic-level',
    script: 'interop/windows/test/classic-level.test.js',
    flags: TESTS,
    isShort: true,
    least: 4
  },
  {
    name: 'paths and programs in the way',
    script: 'interop/windows/test/paths.test.js',
    flags: TESTS,
    isShort: true,
    least: 3
  }
]

// The modules that the API reference is about.

/** What a program can import, and the file that it gets. */
export const ENTRY_POINTS = {
  terrace: 'packages/terrace/src/index.ts',
  'terrace-core': 'packages/core/src/index.ts',
  'terrace-bytewise': 'packages/bytewise/src/index.ts',
  ...Object.fromEntries(
    ['copy', 'feed', 'index', 'lock', 'streams', 'transaction', 'ttl'].map((part) => [
      `terrace-toolbox/${part}`,
      `packages/toolbox/src/${part}/index.ts`
    ])
  ),
  'terrace-net': 'packages/net/src/client/index.ts',
  'terrace-net/server': 'packages/net/src/server/index.ts',
  'terrace-net/shared': 'packages/net/src/shared/index.ts',
  'terrace-lmdb': 'packages/back-ends/lmdb/src/index.ts',
  'terrace-mysql': 'packages/back-ends/mysql/src/index.ts',
  'terrace-slatedb': 'packages/back-ends/slatedb/src/index.ts',
  'terrace-workshop-runner': 'courses/runner/src/index.ts'
}

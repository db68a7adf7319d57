// The modules that the API reference is about.

import { relative } from 'node:path'
import { backEnds } from '../../scripts/back-ends.mjs'
import { root } from '../../scripts/workspace.mjs'

/** The back-ends that have a package of their own. */
export const stores = backEnds.filter(({ title }) => title !== undefined)

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
  ...Object.fromEntries(
    stores.map((each) => [each.package, `${relative(root, each.directory)}/src/index.ts`])
  ),
  'terrace-workshop-runner': 'courses/runner/src/index.ts'
}

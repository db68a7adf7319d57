// Tests in a browser that end whatever happens: a page or worker that never answers would have them wait for ever.

import { test as testOfNode } from 'node:test'
import { HANG_MS } from '../../../support/waiting.mjs'

/** The test of `node:test`, which fails if it hangs. */
export function test(name, ...rest) {
  const work = rest.pop()
  return testOfNode(name, { timeout: HANG_MS, ...rest[0] }, work)
}

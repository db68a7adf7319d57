// Tests in a browser that end whatever happens: a page or worker that never answers would have them wait for ever.

import { test as testOfNode } from 'node:test'

/** abstract-level's suite takes half a minute on a slow machine. */
const TIMEOUT_MS = 180_000

/** The test of `node:test`, which fails after three minutes unless its options say otherwise. */
export function test(name, ...rest) {
  const work = rest.pop()
  return testOfNode(name, { timeout: TIMEOUT_MS, ...rest[0] }, work)
}

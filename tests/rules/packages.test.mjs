// House rules about the packages for Node.

import assert from 'node:assert/strict'
import test from 'node:test'
import { text } from './tracked.mjs'

test('make node tests every package', () => {
  const { workspaces } = JSON.parse(text('package.json'))
  const [, tested] = text('Makefile').match(/^PACKAGE_TESTS := \$\(addprefix test-of-,(.*)\)$/m)
  const packages = tested.split(' ').map((name) => `packages/${name}`)
  assert.deepEqual(packages.toSorted(), workspaces.toSorted())
})

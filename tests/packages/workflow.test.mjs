// The workflow of hosted CI runs steps of the Makefile.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packagesIn } from '../../scripts/workspace.mjs'
import { text } from '../house/tracked.mjs'

test('each target that the workflow makes is one of the Makefile', () => {
  const workflow = text('.github/workflows/ci.yml')
  const portable = /^ {2}PORTABLE: (.*)$/m.exec(workflow)[1]
  const words = [...workflow.matchAll(/- run: make (.*)$/gm)].flatMap(([, rest]) => rest.split(' '))
  const wanted = words.filter((word) => /^[a-z]/.test(word))
  wanted.push(...portable.split(' '))
  assert.ok(wanted.includes('test') && wanted.includes('test-of-terrace'))

  const makefile = text('Makefile') + text('docs/site/site.mk')
  const targets = new Set([
    ...[...makefile.matchAll(/^([a-z0-9-]+):/gm)].map(([, target]) => target),
    ...packagesIn().map(({ directory }) => directory.replace('packages/', 'test-of-'))
  ])
  assert.deepEqual(
    wanted.filter((target) => !targets.has(target)),
    []
  )
})

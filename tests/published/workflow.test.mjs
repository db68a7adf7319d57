// The workflow of hosted CI makes targets of the Makefile, and every part of the tests.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { root, text } from '../rules/tracked.mjs'

const workflow = text('.github/workflows/ci.yml')
const make = (...args) => spawnSync('make', ['--dry-run', ...args], { cwd: root, encoding: 'utf8' })
const parts = execFileSync('make', ['--silent', 'parts'], { cwd: root, encoding: 'utf8' }).trim().split('\n')

test('each target that the workflow makes is one of the Makefile', () => {
  const portable = /^ {2}PORTABLE: (.*)$/m.exec(workflow)[1]
  const words = [...workflow.matchAll(/- run: make (.*)$/gm)].flatMap(([, rest]) => rest.split(' '))
  const wanted = words.filter((word) => /^[a-z-]+$/.test(word))
  wanted.push(...portable.split(' '))
  assert.ok(wanted.includes('test') && wanted.includes('test-terrace'))
  assert.deepEqual(
    wanted.filter((target) => make(target).status !== 0),
    []
  )
  assert.notEqual(make('no-such-target').status, 0)
})

test('each part of the tests is a target, and the workflow has a job for each', () => {
  assert.ok(parts.length > 30 && parts.includes('crates') && parts.includes('platforms'))
  assert.deepEqual(
    parts.filter((part) => make(`test-${part}`).status !== 0),
    []
  )
  assert.match(workflow, /make --silent parts \| grep -v '\^platforms\$'/)
  assert.match(workflow, /- run: make test-\$\{\{ matrix\.part \}\}/)
  assert.match(workflow, /- run: make test-platforms /)
})

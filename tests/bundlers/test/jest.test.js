// Jest with its defaults: it loads only CommonJS, and runs each test file in a separate context.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { node, Projects } from '../../support/projects.mjs'
import { makeProject, tools } from './support/project.js'

const projects = new Projects()
after(() => projects.remove())

let directory
before(() => {
  const files = ['level.test.js', 'toolbox.test.js'].map((name) => [
    name,
    readFileSync(new URL(`support/jest/${name}`, import.meta.url), 'utf8')
  ])
  directory = makeProject(projects, Object.fromEntries(files))
})

for (const [where, options] of Object.entries({
  'in one process': ['--runInBand'],
  'in workers': ['--maxWorkers=2'],
  'in worker threads': ['--maxWorkers=2', '--workerThreads']
})) {
  test(`Jest runs tests of the packages ${where}`, () => {
    const { status, stderr } = node(directory, join(tools, 'jest', 'bin', 'jest.js'), ...options)
    assert.match(stderr, /^Tests: +9 passed, 9 total$/m, stderr)
    assert.equal(status, 0)
  })
}

// The package as npm would publish it, in an empty project: for require, import and TypeScript.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { expectOutput, Projects } from '../../../tests/support/projects.mjs'

const projects = new Projects()
after(() => projects.remove())

test('it is installed with what it needs, and works from CommonJS and ES modules', () => {
  const use = `
    const db = leveldown('db')
    db.open(() => db.put('a', '1', () => db.get('a', { asBuffer: false }, (error, value) => console.log(error, value))))
    const memory = memdown()
    memory.open(() => memory.get('a', (error) => console.log(error.message)))
  `
  const directory = projects.having('packages/leveldown', {
    'script.cjs': `
      const leveldown = require('terrace-leveldown')
      const memdown = require('terrace-leveldown/memory')
      ${use}
    `,
    'module.mjs': `
      import leveldown from 'terrace-leveldown'
      import memdown from 'terrace-leveldown/memory'
      ${use}
    `
  })
  const installed = join(directory, 'node_modules', 'terrace-leveldown')
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json'])
  for (const file of ['script.cjs', 'module.mjs']) expectOutput(directory, file, 'NotFound\nnull 1\n')
})

// The package as npm would publish it, in the short form as it is built. Every part that its manifest names can be imported and
// required, is the same either way, and has types.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isShort } from '../../../tests/support/form.mjs'
import { expectOutput, Projects } from '../../../tests/support/projects.mjs'

const projects = new Projects()
after(() => projects.remove())

test('every part is in the package, for ES modules and CommonJS, with its types and without unneeded files', () => {
  const program = `
    const names = ['ttl', 'index', 'feed', 'transaction', 'lock', 'streams', 'copy']
    async function main() {
      for (const name of names) {
        const required = require('terrace-toolbox/' + name)
        const imported = await import('terrace-toolbox/' + name)
        const keys = Object.keys(required)
        console.log(name, keys.length > 0 && keys.every((key) => imported[key] === required[key]))
      }
    }
    main()
  `
  const project = projects.having('packages/toolbox', { 'both.cjs': program })
  const directory = join(project, 'node_modules', 'terrace-toolbox')
  if (!isShort)
    assert.deepEqual(readdirSync(directory).sort(), ['LICENSE', 'README.md', 'dist', 'package.json'])

  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const parts = Object.entries(manifest.exports).filter(([, files]) => typeof files === 'object')
  assert.equal(parts.length, 7)
  for (const [part, conditions] of parts) {
    for (const condition of ['import', 'require']) {
      const { types } = conditions[condition]
      assert.ok(existsSync(join(directory, types)), `types of ${part} for ${condition}`)
    }
  }
  expectOutput(project, 'both.cjs', parts.map(([part]) => `${part.slice(2)} true\n`).join(''))
})

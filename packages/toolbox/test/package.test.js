// The package as npm would publish it, in the short form unpacked without npm. Every part that its manifest names can be imported
// and required, is the same either way, and has types.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isShort } from '../../../tests/support/form.mjs'
import { archiveOf, expectOutput, Projects, root } from '../../../tests/support/projects.mjs'

const projects = new Projects()
after(() => projects.remove())

/** A project in which npm has installed the package. */
function installed(files) {
  return projects.make('toolbox', { archives: projects.archivesOf('toolbox'), files })
}

/** The same, from the archives of our packages, with a link to the one of others. */
function unpacked(files) {
  const directory = join(projects.directory, 'toolbox')
  const archives = projects.pack('toolbox')
  for (const name of ['terrace-toolbox', 'terrace-bytewise']) {
    const target = join(directory, 'node_modules', name)
    mkdirSync(target, { recursive: true })
    execFileSync('tar', ['-xzf', archiveOf(archives, name), '-C', target, '--strip-components=1'])
  }
  const external = realpathSync(join(root, 'node_modules', 'abstract-level'))
  symlinkSync(external, join(directory, 'node_modules', 'abstract-level'), 'junction')
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text)
  return directory
}

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
  const project = (isShort ? unpacked : installed)({ 'both.cjs': program })
  const directory = join(project, 'node_modules', 'terrace-toolbox')
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

// The package as npm would publish it, in the short form as it is built. ES modules and CommonJS get the same classes, which
// `terrace` extends.

import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isShort } from '../../../tests/support/form.mjs'
import { expectOutput, Projects, root } from '../../../tests/support/projects.mjs'

const projects = new Projects()
after(() => projects.remove())

/** A project in which npm has installed the packages. */
function installed(files) {
  return projects.make('core', { archives: projects.archivesOf('terrace'), files })
}

/** The same, with links to the packages as they are built. */
function linked(files) {
  const directory = join(projects.directory, 'core')
  mkdirSync(join(directory, 'node_modules'), { recursive: true })
  for (const name of ['terrace', 'terrace-core']) {
    symlinkSync(
      realpathSync(join(root, 'node_modules', name)),
      join(directory, 'node_modules', name),
      'junction'
    )
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text)
  return directory
}

test('there is one class, however it is loaded', () => {
  const program = `
    const { Level, Sublevel } = require('terrace')
    const required = require('terrace-core')
    import('terrace-core').then((imported) => {
      const names = Object.keys(required)
      console.log(names.length > 0 && names.every((name) => imported[name] === required[name]))
      console.log(Level.prototype instanceof required.BackendLevel, Sublevel === required.Sublevel)
    })
  `
  const directory = (isShort ? linked : installed)({ 'both.cjs': program })
  expectOutput(directory, 'both.cjs', 'true\ntrue true\n')
})

// The package as npm would publish it, in the short form as it is built. ES modules and CommonJS get the same classes, which
// `terrace` extends.

import { after, test } from 'node:test'
import { expectOutput, Projects } from '../../../tests/support/projects.mjs'

const projects = new Projects()
after(() => projects.remove())

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
  const directory = projects.having('packages/terrace', { 'both.cjs': program })
  expectOutput(directory, 'both.cjs', 'true\ntrue true\n')
})

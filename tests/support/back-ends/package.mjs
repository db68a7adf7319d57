// A back-end's package as npm would publish it, and its README.

import { after } from 'node:test'
import { check, programsIn } from '../../../packages/net/test/support/examples.js'
import { expectOutput, Projects } from '../projects.mjs'

/**
 * Registers the tests of a package.
 *
 * @param {object} tested
 * @param {(name: string, run: (t: any) => Promise<void>) => void} tested.test
 * @param {string} tested.directory - The package's, in `packages/back-ends/`.
 * @param {string} tested.className
 * @param {(t: any) => Promise<Record<string, string>>} tested.replaced - What must stand in the place of texts of the README's
 * example, so that it can run.
 * @param {(t: any) => Promise<string>} tested.location - Where a database can be made.
 */
export function testPackage({ test, directory, className, replaced, location }) {
  const projects = new Projects()
  after(() => projects.remove())

  test('the example of the README prints what it says', async (t) => {
    const readme = new URL(`../../../packages/back-ends/${directory}/README.md`, import.meta.url)
    const [program] = programsIn(readme)
    check(program, await replaced(t))
  })

  test('there is one class, however it is loaded, and it extends the class of terrace-core', async (t) => {
    const program = `
      const required = require('terrace-${directory}')
      const { BackendLevel } = require('terrace-core')
      import('terrace-${directory}').then(async (imported) => {
        const names = Object.keys(required)
        console.log(names.length > 0 && names.every((name) => imported[name] === required[name]))
        console.log(required.${className}.prototype instanceof BackendLevel)
        const db = new imported.${className}(${JSON.stringify(await location(t))})
        await db.put('key', 'value')
        console.log(await db.get('key'))
        await db.close()
      })
    `
    const project = projects.make(directory, {
      archives: projects.archivesOf(`packages/back-ends/${directory}`),
      files: { 'both.cjs': program }
    })
    expectOutput(project, 'both.cjs', 'true\ntrue\nvalue\n')
  })
}

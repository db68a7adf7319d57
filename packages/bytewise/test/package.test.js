// The package as npm would publish it, in an empty project: from ES modules and CommonJS, and without Buffer, as in browsers.

import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { expectOutput, Projects } from '../../../tests/support/projects.mjs'

const require = createRequire(import.meta.url)
const projects = new Projects()
after(() => projects.remove())

test('it is installed without dependencies, and ES modules and CommonJS get the same', () => {
  const use = "console.log(bytewise.decode(bytewise.encode(['a', 1n])), encode === bytewise.encode)"
  const directory = projects.make('bytewise', {
    archives: projects.pack('packages/bytewise'),
    files: {
      'module.mjs': `import bytewise, { encode } from 'terrace-bytewise'\n${use}`,
      'script.cjs': `const { bytewise, encode } = require('terrace-bytewise')\n${use}`,
      'both.cjs': `
        const required = require('terrace-bytewise')
        import('terrace-bytewise').then((imported) => {
          for (const name in required) console.log(name, imported[name] === required[name])
        })
      `
    }
  })
  const installed = readdirSync(join(directory, 'node_modules')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(installed, ['terrace-bytewise'])
  assert.deepEqual(readdirSync(join(directory, 'node_modules', 'terrace-bytewise')).sort(), [
    'LICENSE',
    'README.md',
    'dist',
    'package.json'
  ])

  expectOutput(directory, 'module.mjs', "[ 'a', 1n ] true\n")
  expectOutput(directory, 'script.cjs', "[ 'a', 1n ] true\n")
  const names = Object.keys(require('terrace-bytewise'))
  assert.ok(names.includes('Bound') && names.includes('default'))
  expectOutput(directory, 'both.cjs', names.map((name) => `${name} true\n`).join(''))
})

test('a bound of another copy of the package in the process is a bound', () => {
  const copy = join(projects.directory, 'copy')
  cpSync(dirname(require.resolve('terrace-bytewise')), copy, { recursive: true })
  const [one, other] = [require('terrace-bytewise'), require(join(copy, 'index.js'))]
  assert.notEqual(one.Bound, other.Bound)
  assert.ok(other.upper('a') instanceof one.Bound)
  assert.ok(
    !({ isUpper: true } instanceof one.Bound) && !(Object.create(one.Bound.prototype) instanceof one.Bound)
  )
  assert.deepEqual(one.encode(['a', other.upper('b')]), one.encode(['a', one.upper('b')]))
})

// Browsers load ES modules one by one, without a bundler, and do not know CommonJS.
const builds = {
  node: 'terrace-bytewise',
  browsers: new URL('../dist/browser/index.js', import.meta.url).href
}
for (const [name, build] of Object.entries(builds)) {
  test(`without Buffer, keys are the same, from the build for ${name}`, () => {
    const program = fileURLToPath(new URL('support/no-buffer.js', import.meta.url))
    expectOutput(undefined, [program, build], '')
  })
}

test('the build for browsers is ES modules alone, and exports what the others do', async () => {
  const directory = fileURLToPath(new URL('../dist/browser/', import.meta.url))
  const sources = readdirSync(directory).filter((name) => name.endsWith('.js'))
  assert.ok(sources.length > 5)
  for (const name of sources) {
    assert.doesNotMatch(
      readFileSync(join(directory, name), 'utf8'),
      /\brequire\(|\bexports\.|from '(?!\.\/)/,
      name
    )
  }
  assert.deepEqual(
    Object.keys(await import(builds.browsers)).sort(),
    Object.keys(require('terrace-bytewise')).sort()
  )
})

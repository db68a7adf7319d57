// The package as npm would publish it, in an empty project without a network: from ES modules and CommonJS, and where
// there is no Buffer, as in browsers.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { packPackage } from '../../../scripts/pack-package.mjs'

// Settings of an npm that runs this test must not reach the npm that it runs.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

/** Runs a program, which must end well and print nothing but what is expected: no warnings either. */
function expectOutput(args, cwd, expected) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(stdout, expected)
  assert.equal(status, 0)
}

test('it is installed without dependencies, and used from ES modules and CommonJS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrace-bytewise-package-'))
  try {
    const archive = packPackage(fileURLToPath(new URL('..', import.meta.url)), folder)
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    const options = [
      '--offline',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      `--cache=${join(folder, 'cache')}`
    ]
    execFileSync('npm', ['install', archive, ...options], { cwd: folder, env, stdio: 'pipe' })
    const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))
    assert.deepEqual(installed, ['terrace-bytewise'])
    assert.deepEqual(readdirSync(join(folder, 'node_modules', 'terrace-bytewise')).sort(), [
      'LICENSE',
      'README.md',
      'dist',
      'package.json'
    ])

    const use = "console.log(bytewise.decode(bytewise.encode(['a', 1n])), encode === bytewise.encode)"
    writeFileSync(join(folder, 'module.mjs'), `import bytewise, { encode } from 'terrace-bytewise'\n${use}`)
    writeFileSync(
      join(folder, 'script.cjs'),
      `const { bytewise, encode } = require('terrace-bytewise')\n${use}`
    )
    expectOutput(['module.mjs'], folder, "[ 'a', 1n ] true\n")
    const node = process.versions.node.split('.').map(Number)
    // Node 20 can require ES modules from 20.19 on, and says at each start that this may change.
    const quiet = node[0] < 23 ? ['--disable-warning=ExperimentalWarning'] : []
    expectOutput([...quiet, 'script.cjs'], folder, "[ 'a', 1n ] true\n")
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('without Buffer, as in browsers, keys are the same', () => {
  expectOutput([fileURLToPath(new URL('support/no-buffer.js', import.meta.url))], undefined, '')
})

// How npm is started.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandOf, npm } from '../../scripts/npm.mjs'

test('npm starts here', () => {
  assert.match(npm(['--version'], { encoding: 'utf8' }), /^\d+\.\d+\.\d+\n$/)
})

test('on Windows, where npm is a batch file, Node runs the script of npm', () => {
  const execPath = join('programs', 'node.exe')
  const own = join('programs', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  const on = (env) => commandOf({ platform: 'win32', execPath, env })
  assert.deepEqual(on({}), [execPath, own])
  assert.deepEqual(on({ npm_execpath: join('newer', 'npm-cli.js') }), [execPath, join('newer', 'npm-cli.js')])
  // Another manager of packages runs this program.
  assert.deepEqual(on({ npm_execpath: join('other', 'pnpm.cjs') }), [execPath, own])
  assert.deepEqual(commandOf({ platform: 'darwin', execPath, env: {} }), ['npm'])
})

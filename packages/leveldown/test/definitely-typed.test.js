// A program written for @types/leveldown compiles with our package in place of leveldown. `npm test` compiles it for @types/leveldown.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('..', import.meta.url))
const installed = fileURLToPath(new URL('../../../node_modules', import.meta.url))

const compilerOptions = {
  target: 'ES2022',
  module: 'NodeNext',
  types: ['node'],
  typeRoots: [join(installed, '@types')],
  strict: true,
  noEmit: true
}

/** Compiles a file in a project whose `leveldown` is our package. Returns what the compiler prints. */
function compiled(t, file) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-leveldown-types-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(here, join(directory, 'node_modules', 'leveldown'), 'junction')
  cpSync(join(here, 'test', 'types', file), join(directory, file))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  const compiler = join(installed, 'typescript', 'bin', 'tsc')
  return spawnSync(process.execPath, [compiler, '--project', directory], { encoding: 'utf8' }).stdout
}

test('a program written for @types/leveldown compiles with our package in its place', (t) => {
  assert.equal(compiled(t, 'client.cts'), '')
})

// What a release makes besides the packages.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { withRepository } from '../../scripts/manifests.mjs'
import { root } from '../rules/tracked.mjs'

/** A directory, and a function that runs a command of bash there with the functions of scripts/release. */
function makeRelease(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-release-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const run = (command) =>
    spawnSync(
      'bash',
      ['-c', `source "$1" && cd "$2" && ${command}`, 'bash', join(root, 'scripts/release'), directory],
      {
        encoding: 'utf8'
      }
    )
  return { directory, run }
}

test('SHA256SUMS does not list itself', (t) => {
  const { directory, run } = makeRelease(t)
  for (const name of ['b.zip', 'a.tar.gz', 'SHA256SUMS']) writeFileSync(join(directory, name), name)
  const { status, stderr } = run('sum_archives .')
  assert.equal(stderr, '')
  assert.equal(status, 0)
  const sums = readFileSync(join(directory, 'SHA256SUMS'), 'utf8')
  assert.deepEqual(sums.match(/\S+$/gm), ['a.tar.gz', 'b.zip'])
})

test('a release whose packages name no repository ends with a warning', (t) => {
  const { directory, run } = makeRelease(t)
  writeFileSync(join(directory, 'package.json'), '{}')
  const without = run('warn_of_repository')
  assert.equal(without.status, 0)
  assert.match(without.stderr, /name no repository.*RELEASING\.md/)
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ repository: { url: 'git+https://example.org/x' } })
  )
  const { status, stdout, stderr } = run('warn_of_repository')
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})

test('links of a packed README lead somewhere: its manifest names the repository and the directory', () => {
  const manifest = { name: 'terrace-core', version: '1.2.3' }
  const url = 'git+https://example.org/terrace.git'
  const wanted = { ...manifest, repository: { type: 'git', url, directory: 'packages/core' } }
  assert.deepEqual(withRepository(manifest, 'packages/core', { type: 'git', url }), wanted)
  assert.deepEqual(withRepository(manifest, 'packages/core', url), wanted)
  assert.deepEqual(withRepository(manifest, 'packages/core', null), manifest)
})

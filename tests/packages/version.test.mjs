// One version everywhere, and the script that sets it.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { npm } from '../../scripts/npm.mjs'
import { differences, setVersion, versionOf } from '../../scripts/version.mjs'
import { files, root } from '../house/tracked.mjs'

/** The files that may have a version in them, in a directory of their own. */
function copyOf(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-version-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const wanted = files.filter((file) =>
    /((package(-lock)?|workshop)\.json|Cargo\.(toml|lock)|version\.rb|\.md|\.1)$/.test(file)
  )
  for (const file of wanted.filter((file) => !file.startsWith('testdata/')))
    cpSync(join(root, file), join(directory, file))
  return directory
}

test('everything that is published has one version', () => {
  assert.deepEqual(differences(root, versionOf(root)), [])
})

test('setting a version changes it everywhere, and nothing else', (t) => {
  const directory = copyOf(t)
  const old = versionOf(directory)
  setVersion(directory, '12.34.56')
  assert.equal(versionOf(directory), '12.34.56')
  assert.deepEqual(differences(directory, '12.34.56'), [])

  for (const lock of ['Cargo.toml', 'package-lock.json']) {
    const [before, after] = [root, directory].map((each) => readFileSync(join(each, lock), 'utf8'))
    assert.equal(after.replaceAll('12.34.56', old), before)
    assert.notEqual(after, before)
  }
  // What npm would write into its lock file is there already.
  npm(['install', '--package-lock-only', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: 'pipe'
  })
  setVersion(directory, old)
  assert.deepEqual(
    JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8')),
    JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  )
})

test('a manifest with another version is told of, with its line', (t) => {
  const directory = copyOf(t)
  const version = versionOf(directory)
  const file = join(directory, 'packages/core/package.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace(`"version": "${version}"`, '"version": "9.9.9"'))
  assert.deepEqual(differences(directory, version), ['packages/core/package.json:3: 9.9.9'])
})

// One version everywhere, and the script that sets it.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { npm } from '../../scripts/npm.mjs'
import { differences, setVersion, versionOf } from '../../scripts/version.mjs'
import { files, isBinary, root, text } from '../rules/tracked.mjs'

/** Where our version may stand although `setVersion` leaves it: history, versions of other software, and examples. */
const MAY_STAY = [
  /^(testdata|bench\/results)\//,
  /^CHANGELOG\.md$/,
  /(^|[.-])lock(\.json)?$/i,
  // A program with its own version.
  /^bench\/node\/package\.json$/,
  // An example of a version.
  /^crates\/capi\/include\/terrace\.h$/,
  // The packages of a test, and of a workshop that begins.
  /^packages\/copy\/test\/secrets\.long\.test\.js$/,
  /^courses\/runner\/src\/template\.ts$/
]

/** A line of a result, with the version that was measured. */
const MEASURED = /^- Level .*, terrace \d/

/** A package or crate that is never published keeps the version that it has. */
const isPrivate = (file) =>
  (file.endsWith('package.json') && JSON.parse(text(file)).private === true) ||
  (file.endsWith('Cargo.toml') && /^publish = false$/m.test(text(file)))

/** Copies the files that may contain a version into a separate directory. */
function copyOf(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-version-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const wanted = files.filter((file) =>
    /((package(-lock)?|workshop)\.json|Cargo\.(toml|lock)|version\.rb|codemod\.mjs|\.md|\.1)$/.test(file)
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

test('a new version leaves the old one nowhere: a place that nobody listed is found', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-version-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const old = versionOf(root)
  const numbered = new RegExp(`(?<![\\d.])${old.replaceAll('.', '\\.')}(?!\\d|\\.\\d)`)
  const looked = files.filter((file) => !isBinary(file))
  for (const file of looked) cpSync(join(root, file), join(directory, file))
  setVersion(directory, '12.34.56')

  const left = looked
    .filter((file) => !MAY_STAY.some((pattern) => pattern.test(file)) && !isPrivate(file))
    .flatMap((file) =>
      readFileSync(join(directory, file), 'utf8')
        .split('\n')
        .map((line, index) => [line, `${file}:${index + 1}: ${line.trim()}`])
    )
    .filter(([line]) => numbered.test(line) && /terrace|version/i.test(line) && !MEASURED.test(line))
    .map(([, place]) => place)
  assert.deepEqual(left, [])
})

test('a manifest with another version is told of, with its line', (t) => {
  const directory = copyOf(t)
  const version = versionOf(directory)
  const file = join(directory, 'packages/core/package.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace(`"version": "${version}"`, '"version": "9.9.9"'))
  assert.deepEqual(differences(directory, version), ['packages/core/package.json:3: 9.9.9'])
})

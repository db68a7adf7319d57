// What a release makes besides the packages.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { withRepository } from '../../scripts/manifests.mjs'
import { KINDS } from '../../scripts/publish.mjs'
import { packagesIn } from '../../scripts/workspace.mjs'
import { files, root, text } from '../rules/tracked.mjs'

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

/** What is published of a kind: the names, and where each is in their order. */
function published(kind) {
  const names = KINDS[kind].packages().map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  return { names, place: (name) => names.indexOf(name) }
}

test('every package of npm is published, after those of ours that it needs and those of its platforms', () => {
  const { names, place } = published('npm')
  const manifests = files.filter((file) => /^packages\/[a-z]+\/npm\/[^/]+\/package\.json$/.test(file))
  const platforms = manifests.map((file) => [dirname(dirname(dirname(file))), JSON.parse(text(file)).name])
  const packages = packagesIn()
  const all = [...packages.map(({ name }) => name), ...platforms.map(([, name]) => name)]
  assert.deepEqual(names.toSorted(), all.toSorted())
  for (const { name, directory, manifest } of packages) {
    const needed = [
      ...Object.keys(manifest.dependencies ?? {}).filter((each) => names.includes(each)),
      ...platforms.filter(([of]) => of === directory).map(([, platform]) => platform)
    ]
    for (const each of needed) assert.ok(place(each) < place(name), `${each} comes before ${name}`)
  }
})

test('every crate is published that may be, after those that it needs', () => {
  const { names, place } = published('cargo')
  const manifests = files
    .filter((file) => /^crates\/[^/]+\/Cargo\.toml$/.test(file) && !/^publish = false$/m.test(text(file)))
    .map((file) => text(file).replace(/^\[dev-dependencies\][^[]*/m, ''))
  assert.deepEqual(
    names.toSorted(),
    manifests.map((manifest) => /^name = "(.*)"$/m.exec(manifest)[1]).toSorted()
  )
  for (const manifest of manifests) {
    const [, name] = /^name = "(.*)"$/m.exec(manifest)
    for (const [, needed] of manifest.matchAll(/^(terrace-[a-z-]+)(?:\.workspace)? =/gm))
      assert.ok(place(needed) >= 0 && place(needed) < place(name), `${needed} comes before ${name}`)
  }
})

test('nothing is published from a commit without the tag of its version, nor what was packed from another one', (t) => {
  const { directory } = makeRelease(t)
  const git = (...args) => spawnSync('git', args, { cwd: directory, encoding: 'utf8' })
  assert.equal(
    git('clone', '--quiet', '--local', '--no-hardlinks', '--depth=1', `file://${root}`, '.').status,
    0
  )
  // The scripts of the working tree, in a separate repository.
  for (const file of files.filter((each) => /^(scripts|packages\/[a-z]+\/scripts)\/.*\.mjs$/.test(each)))
    writeFileSync(join(directory, file), readFileSync(join(root, file)))
  const publish = (...args) =>
    spawnSync(process.execPath, ['scripts/publish.mjs', ...args], { cwd: directory, encoding: 'utf8' })
  const version = text('Cargo.toml').match(/^version = "(.*)"$/m)[1]
  git('tag', '--delete', `v${version}`)
  git('tag', `v${version}1`)

  for (const command of ['check', ...Object.keys(KINDS)])
    assert.match(
      publish(command).stderr,
      new RegExp(`^publish: This commit has no tag v${version},.*RELEASING`)
    )
  git('tag', `v${version}`)
  assert.deepEqual(publish('check').stderr, '')
  assert.ok(!existsSync(join(directory, 'target')))
  for (const command of Object.keys(KINDS)) {
    const { status, stdout, stderr } = publish(command)
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^publish: .* has archives of no commit.*run "scripts\/release tagged" first/)
  }
})

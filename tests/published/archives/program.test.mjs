// The archives of the program: it runs, as far as programs of its platform run here, and reads a database of LevelDB.

import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PLATFORMS } from '../../../packages/terrace/scripts/platforms.mjs'
import { programName, root } from '../../../scripts/prebuilds/paths.mjs'
import { versionOf } from '../../../scripts/version.mjs'
import { reasonAgainst, run, runnerFor, temporaryDirectory, unpack } from './support.mjs'

const DATABASE = 'leveldb-1.23-snappy-bloom'
const digests = readFileSync(join(root, 'testdata', 'DIGESTS'), 'utf8')
const [, entries] = new RegExp(`^${DATABASE} (\\d+)`, 'm').exec(digests)

for (const name of Object.keys(PLATFORMS)) {
  const cannotRun = runnerFor(name) === undefined && 'no program of this platform runs here'
  test(`the program for ${name} reads a database of LevelDB`, {
    skip: reasonAgainst('terrace', name) || cannotRun
  }, (t) => {
    const directory = temporaryDirectory(t)
    const unpacked = unpack('terrace', name, directory)
    for (const file of ['LICENSE', 'README.md', 'THIRD-PARTY-LICENSES.txt', 'man/man1/terrace-scan.1']) {
      assert.ok(existsSync(join(unpacked, file)), file)
    }

    const program = join(unpacked, programName(PLATFORMS[name]))
    assert.equal(run(name, program, ['--version'], { cwd: directory }), `terrace ${versionOf(root)}\n`)
    cpSync(join(root, 'testdata', DATABASE), join(directory, 'fruit'), { recursive: true })
    assert.equal(run(name, program, ['count', 'fruit'], { cwd: directory }), `${entries}\n`)
    const keys = run(name, program, ['scan', 'fruit', '--keys'], { cwd: directory })
    assert.equal(keys.split('\n').length - 1, Number(entries))
  })
}

// Paths of unusual lengths, and disks that cannot be written to.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Level } from 'terrace'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

/** The longest path that Linux takes, and the longest name. */
const PATH_MAX = 4096
const NAME_MAX = 255

test('a database may have a path of 400 characters', async (t) => {
  const location = join(temporaryDirectory(t), 'x'.repeat(200), 'y'.repeat(200))
  for (let round = 0; round < 3; round++) {
    const db = await openLevel(t, undefined, location)
    await db.put(`key${round}`, 'value', { sync: true })
    await db.compactRange('a', 'z')
    assert.equal((await db.keys().all()).length, round + 1)
    await db.close()
  }
  await Level.destroy(location)
  assert.deepEqual(readdirSync(join(location, '..')), [])
})

const isWindows = process.platform === 'win32' && 'Windows has other limits, see tests/platforms/windows/test'

test('a path or a name that is too long is refused as such, and nothing is made', {
  skip: isWindows
}, async (t) => {
  const directory = temporaryDirectory(t)
  for (const location of [
    join(directory, ...Array.from({ length: PATH_MAX / 128 }, () => 'x'.repeat(128))),
    join(directory, 'x'.repeat(NAME_MAX + 1))
  ]) {
    const { cause } = await newLevel(t, undefined, location)
      .open()
      .then(assert.fail, (error) => error)
    assert.equal(cause.code, 'LEVEL_IO_ERROR')
    assert.equal(cause.cause.code, 'ENAMETOOLONG')
  }
  assert.deepEqual(readdirSync(directory), [])
})

/** Mounts a disk of memory, if this process may. Throws otherwise. */
function mountDisk() {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-test-disk-'))
  const { status, stderr, error } = mount('-t', 'tmpfs', '-o', 'size=64m', 'terrace-test', directory)
  if (status === 0) return directory
  rmSync(directory, { recursive: true })
  throw new Error(`a disk cannot be mounted: ${stderr || error}`)
}

function removeDisk(directory) {
  spawnSync('umount', ['--lazy', directory])
  rmSync(directory, { recursive: true })
}

function mount(...args) {
  return spawnSync('mount', args, { encoding: 'utf8' })
}

function reasonWithoutDisk() {
  try {
    removeDisk(mountDisk())
    return false
  } catch ({ message }) {
    return message
  }
}

test('on a disk that is for reading alone, a database opens with readOnly, and otherwise the error says so', {
  skip: reasonWithoutDisk()
}, async (t) => {
  const disk = mountDisk()
  t.after(() => removeDisk(disk))
  const location = join(disk, 'db')
  const db = await openLevel(t, undefined, location)
  await db.put('a', '1')
  await db.close()
  const before = contents(location)
  assert.equal(mount('-o', 'remount,ro', disk).status, 0)

  const refused = async (location) => {
    const { cause } = await newLevel(t, undefined, location)
      .open()
      .then(assert.fail, (error) => error)
    assert.equal(cause.code, 'LEVEL_IO_ERROR')
    assert.equal(cause.cause.code, 'EROFS')
    assert.match(cause.message, /readOnly/)
  }
  await refused(location)
  await refused(join(disk, 'new'))

  const read = await openLevel(t, { readOnly: true }, location)
  assert.equal(await read.get('a'), '1')
  await read.close()
  assert.deepEqual(contents(location), before)
})

function contents(directory) {
  return readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'latin1')])
}

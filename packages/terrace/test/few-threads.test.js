// Many databases with shared resources, when no further thread can be started.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../tests/support/waiting.mjs'
import { openLevel, temporaryDirectory } from './support/databases.js'

const program = fileURLToPath(new URL('./support/few-threads.js', import.meta.url))
const COUNT = 100

/** Makes a group of processes whose threads are counted. Only root can make one, on systems that have that controller. */
function pidsGroup(t) {
  for (const parent of ['/sys/fs/cgroup/pids', '/sys/fs/cgroup']) {
    const group = join(parent, `terrace-test-${process.pid}`)
    try {
      mkdirSync(group)
    } catch {
      continue
    }
    t.after(() => rmdirSync(group))
    if (readdirSync(group).includes('pids.max')) return group
  }
  return undefined
}

/** How a shell starts the program so that its threads can be limited; undefined if that is impossible. */
function begin(t) {
  const group = pidsGroup(t)
  if (group !== undefined) {
    // The shell itself joins the group, and becomes the program.
    return { start: `echo $$ > '${group}/cgroup.procs'; exec "$@"`, more: [join(group, 'pids.max')] }
  }
  // A user's own limit does not apply to root.
  return process.getuid?.() === 0 ? undefined : { start: 'exec "$@"', more: [] }
}

test('databases that share their threads need no more of them, and close even if none can be started', async (t) => {
  if (process.platform !== 'linux') return t.diagnostic('skipped: threads are counted on Linux only')
  const limit = begin(t)
  if (limit === undefined)
    return t.diagnostic('skipped: no group of processes can be made, and root has no limit of its own')

  const directory = temporaryDirectory(t)
  const command = [process.execPath, program, directory, String(COUNT), ...limit.more]
  const child = spawnSync('sh', ['-c', limit.start, 'sh', ...command], {
    encoding: 'utf8',
    timeout: HANG_MS
  })
  assert.equal(child.status, 0, child.stderr)
  const { added } = JSON.parse(child.stdout)
  t.diagnostic(`${added} threads for ${COUNT} databases`)
  assert.ok(added <= 8, `${added} threads`)

  for (let i = 0; i < COUNT; i++) {
    const db = await openLevel(t, undefined, join(directory, `db${i}`))
    assert.deepEqual(await db.getMany(['a', 'b']), [String(i), String(i)])
    await db.close()
  }
})

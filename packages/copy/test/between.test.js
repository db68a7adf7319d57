// Copies between all kinds of databases.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copy } from 'terrace-toolbox/copy'
import { scaled } from '../../../tests/support/form.mjs'
import { databases } from './support/databases.js'
import { all, fill, someEntries } from './support/entries.js'

const ENTRIES = someEntries(scaled(1500, 500))
const BYTES = ENTRIES.reduce((sum, [key, value]) => sum + key.length + value.length, 0)

for (const [name, open] of Object.entries(databases)) {
  test(`from ${name} to all others: whole, completed after an interruption, with changes in between`, async (t) => {
    const from = await open(t)
    await fill(from, ENTRIES)
    const checksums = new Set()

    for (const [targetName, openTarget] of Object.entries(databases)) {
      const to = await openTarget(t)
      const { entries, bytes, checksum } = await copy(from, to)
      assert.deepEqual({ entries, bytes }, { entries: ENTRIES.length, bytes: BYTES }, targetName)
      checksums.add(checksum)
      assert.deepEqual(await all(to), ENTRIES, targetName)

      const second = await openTarget(t)
      const controller = new AbortController()
      let writes = 0
      second.on('write', () => ++writes === 6 && controller.abort())
      const { signal } = controller
      await assert.rejects(copy(from, second, { batchSize: 50, signal }), { code: 'COPY_ABORTED' })
      await from.put('~ later', 'x')
      await from.del(ENTRIES[3][0], { keyEncoding: 'view' })
      const { resumed, deleted } = await copy(from, second)
      assert.deepEqual({ resumed, deleted }, { resumed: true, deleted: 1 }, targetName)
      assert.deepEqual(await all(second), await all(from), targetName)
      await from.del('~ later')
      await fill(from, [ENTRIES[3]])
    }
    assert.equal(checksums.size, 1)
  })
}

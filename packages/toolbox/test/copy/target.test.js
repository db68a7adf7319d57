// What a target may hold beforehand, how a copy that was not finished is completed, and targets that are not reliable.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { copy, dumpBytes, restore } from 'terrace-toolbox/copy'
import { feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { ttl } from 'terrace-toolbox/ttl'
import { scaled } from '../../../../tests/support/form.mjs'
import { databases, directory } from '../support/databases.js'
import { all, changing, fill, someEntries } from './support.js'

const ENTRIES = someEntries(2000)

/** Copies, and aborts that after some batches. */
async function interrupt(from, to, batches) {
  const controller = new AbortController()
  let writes = 0
  const count = () => ++writes > batches && controller.abort()
  to.on('write', count)
  await assert.rejects(copy(from, to, { batchSize: 100, signal: controller.signal }), {
    code: 'COPY_ABORTED'
  })
  to.off('write', count)
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: a target with entries is refused, and stays as it is`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    await to.put('mine', 'x')
    await assert.rejects(copy(from, to), { code: 'COPY_TARGET_NOT_EMPTY' })
    assert.deepEqual(await to.iterator().all(), [['mine', 'x']])
  })

  test(`${name}: merging keeps the other entries, and writes only what differs`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    await fill(to, [...ENTRIES.slice(0, 500), [ENTRIES[900][0], Buffer.from('other')]])
    await to.put('mine', 'x')
    const { written, deleted, entries } = await copy(from, to, { existing: 'merge', batchSize: 70 })
    assert.deepEqual({ written, deleted, entries }, { written: 1500, deleted: 0, entries: 2000 })
    assert.equal(await to.get('mine'), 'x')
    await to.del('mine')
    assert.deepEqual(await all(to), ENTRIES)
  })

  test(`${name}: overwriting writes what differs, and deletes the rest`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    await fill(to, [...ENTRIES.slice(0, 500), [ENTRIES[900][0], Buffer.from('other')]])
    const others = ['\0', 'mine', '\x03', '~'].map((key) => [Buffer.from(key), Buffer.from('x')])
    await fill(to, others)
    const { written, deleted, resumed } = await copy(from, to, { existing: 'overwrite', batchSize: 70 })
    assert.deepEqual({ written, deleted, resumed }, { written: 1500, deleted: 4, resumed: false })
    assert.deepEqual(await all(to), ENTRIES)
    const again = await copy(from, to, { existing: 'overwrite' })
    assert.deepEqual([again.written, again.deleted], [0, 0])
  })

  test(`${name}: a copy that was interrupted is completed, and not begun anew`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    await interrupt(from, to, 5)
    const { entries, written, resumed } = await copy(from, to)
    assert.ok(written <= 1600 && written >= 1000, `${written}`)
    assert.deepEqual({ entries, resumed }, { entries: 2000, resumed: true })
    assert.deepEqual(await all(to), ENTRIES)
    await assert.rejects(copy(from, to), { code: 'COPY_TARGET_NOT_EMPTY' })
  })

  test(`${name}: a source that was changed in between is copied as it is`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    await interrupt(from, to, 5)
    await from.del(ENTRIES[0][0], { keyEncoding: 'view' })
    await from.del(ENTRIES[30][0], { keyEncoding: 'view' })
    await fill(from, [
      [ENTRIES[50][0], Buffer.from('changed')],
      [Buffer.from([0]), Buffer.from('new, before')],
      [Buffer.from([0xff, 0xff]), Buffer.from('new, after')]
    ])
    const { resumed, deleted } = await copy(from, to)
    assert.deepEqual({ resumed, deleted }, { resumed: true, deleted: 2 })
    assert.deepEqual(await all(to), await all(from))
  })

  test(`${name}: another source, or a part of it, replaces what an unfinished copy left`, async (t) => {
    const [from, other, to] = [await open(t), await open(t), await open(t)]
    await fill(from, ENTRIES)
    await other.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key })))
    await interrupt(from, to, 5)
    await copy(other, to, { range: { gt: 'a' } })
    assert.deepEqual(await to.keys().all(), ['b', 'c'])
  })

  test(`${name}: an unfinished copy is neither merged into nor copied`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    await interrupt(from, to, 5)
    await assert.rejects(copy(from, to, { existing: 'merge' }), { code: 'COPY_UNFINISHED' })
    await assert.rejects(copy(to, await open(t)), { code: 'COPY_UNFINISHED' })
  })

  test(`${name}: a database that is copied to itself is refused, and stays as it is`, async (t) => {
    const db = await open(t)
    await fill(db.sublevel('same'), ENTRIES)
    for (const [from, to] of [
      [db, db],
      [db.sublevel('same'), db.sublevel('same')]
    ]) {
      await assert.rejects(copy(from, to, { existing: 'overwrite' }), { code: 'COPY_SAME_DATABASE' })
      await copy(from, to, { existing: 'merge' })
    }
    assert.deepEqual(await all(db.sublevel('same')), ENTRIES)
    assert.equal((await db.keys().all()).length, ENTRIES.length)
  })

  test(`${name}: a copy between sublevels leaves nothing else in their database`, async (t) => {
    const db = await open(t)
    const [from, to] = [db.sublevel('from'), db.sublevel(['to', 'deep'])]
    await fill(from, ENTRIES)
    await interrupt(from, to, 5)
    assert.equal((await copy(from, to)).resumed, true)
    assert.deepEqual(await all(to), ENTRIES)
    assert.equal((await db.keys().all()).length, 4000)
  })

  test(`${name}: a source is copied as it was, whatever is written meanwhile`, async (t) => {
    const [from, to] = [await open(t), await open(t)]
    await fill(from, ENTRIES)
    let writes = 0
    to.on('write', () => ++writes === 3 && from.batch([{ type: 'put', key: '~', value: 'later' }]))
    await copy(from, to, { batchSize: 100 })
    assert.deepEqual(await all(to), ENTRIES)
    assert.equal(await from.get('~'), 'later')
  })

  test(`${name}: a target that fails fails the copy, which can be completed`, async (t) => {
    const from = await open(t)
    await fill(from, ENTRIES)
    const full = new (changing(MemoryLevel, (number, operations) => {
      if (number === 7) throw Object.assign(new Error('disk full'), { code: 'FULL' })
      return operations
    }))()
    await assert.rejects(copy(from, full, { batchSize: 100 }), { code: 'FULL' })
    const { resumed, written } = await copy(from, full, { batchSize: 100 })
    assert.deepEqual({ resumed, written }, { resumed: true, written: 1300 })
    assert.deepEqual(await all(full), ENTRIES)
  })
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: a copy into a sublevel with an index, a feed and expiry keeps these in step`, async (t) => {
    const json = { keyEncoding: 'json', valueEncoding: 'json' }
    const from = await databases['memory-level'](t, json)
    for (let n = 0; n < 50; n++) await from.put(n, { mail: `m${n}` })
    const to = (await open(t)).sublevel('to', json)
    const byMail = index(to, { name: 'mail', on: 'mail', unique: true })
    const changes = feed(to)
    const view = ttl(to, { defaultTtlMs: 3_600_000 })
    assert.equal((await copy(from, view)).written, 50)
    assert.deepEqual(await byMail.get('m7'), { mail: 'm7' })
    const { records, missing, stale, wrong } = await byMail.verify()
    assert.deepEqual({ records, missing, stale, wrong }, { records: 50, missing: 0, stale: 0, wrong: 0 })
    assert.equal((await view.keys().all()).length, 50)
    await changes.close()
  })
}

const altered = ([first, ...others]) => [{ ...first, value: Buffer.from('bit rot') }, ...others]
const FAULTS = {
  'loses an entry': ([, ...others]) => others,
  'alters a value': altered,
  'alters a key': ([first, ...others]) => [{ ...first, key: Buffer.from([3]) }, ...others],
  'adds an entry': (operations) => [
    ...operations,
    { type: 'put', key: Buffer.from([255]), value: Buffer.alloc(0) }
  ],
  'loses a whole batch': () => []
}

for (const [what, fault] of Object.entries(FAULTS)) {
  test(`a target that ${what} is noticed, and mended by the next copy`, async (t) => {
    const from = await databases.terrace(t)
    await fill(from, ENTRIES)
    for (const Database of [MemoryLevel, Level]) {
      const Faulty = changing(Database, (number, operations) =>
        number === 4 ? fault(operations) : operations
      )
      const to = new Faulty(join(directory(t), 'db'))
      await assert.rejects(copy(from, to, { batchSize: 100 }), { code: 'COPY_MISMATCH' })
      const { resumed, written, deleted } = await copy(from, to, { batchSize: 100 })
      assert.ok(resumed && written + deleted > 0)
      assert.deepEqual(await all(to), ENTRIES)
      await to.close()
    }
  })
}

test('a merge into a target that loses an entry is noticed', async (t) => {
  const from = await databases.terrace(t)
  await fill(from, ENTRIES)
  for (const [what, fault] of Object.entries(FAULTS)) {
    if (what === 'adds an entry') continue
    const to = new (changing(MemoryLevel, (number, operations) =>
      number === 4 ? fault(operations) : operations
    ))()
    await assert.rejects(copy(from, to, { batchSize: 100, existing: 'merge' }), { code: 'COPY_MISMATCH' })
  }
})

test('keys in another order than that of their bytes are copied and merged, and otherwise refused', async (t) => {
  const options = { comparator: 'idb_cmp1', keyEncoding: 'view' }
  const open = async () => {
    const db = new Level(join(directory(t), 'db'), options)
    t.after(() => db.close())
    await db.open()
    return db
  }
  const from = await open()
  // The metadata of the databases 257 and 512: Chromium has the lower byte of a number first.
  const keys = [
    [0x20, 1, 1, 0, 0, 0],
    [0x20, 0, 2, 0, 0, 0]
  ]
  await from.batch(keys.map((key) => ({ type: 'put', key: Uint8Array.from(key), value: 'x' })))
  const same = await open()
  assert.equal((await copy(from, same)).entries, keys.length)

  const isBytewise = (await from.keys().all()).every(
    (key, index, all) => index === 0 || Buffer.compare(all[index - 1], key) < 0
  )
  assert.equal(isBytewise, false)
  const other = await databases['memory-level'](t)
  await assert.rejects(copy(from, other), { code: 'COPY_KEY_ORDER' })
  await assert.rejects(copy(from, same, { existing: 'overwrite' }), { code: 'COPY_KEY_ORDER' })
  const merged = await databases['memory-level'](t)
  assert.equal((await copy(from, merged, { existing: 'merge' })).written, keys.length)
})

test('the sublevels of a source come along, their unfinished copies marked as such', async (t) => {
  const [from, to] = [await databases.terrace(t), await databases.terrace(t)]
  await fill(from.sublevel('whole'), ENTRIES)
  await interrupt(from.sublevel('whole'), from.sublevel('part'), 5)
  await copy(from, to)
  assert.deepEqual(await all(to), await all(from))
  assert.equal((await copy(to.sublevel('whole'), to.sublevel('part'))).resumed, true)
  assert.deepEqual(await all(to.sublevel('part')), ENTRIES)
})

test('a dump of the target of a finished copy restores to the same', async () => {
  const [from, to, restored] = [new MemoryLevel(), new MemoryLevel(), new MemoryLevel()]
  await fill(from, ENTRIES)
  const { checksum } = await copy(from, to)
  assert.equal((await restore(restored, dumpBytes(to))).checksum, checksum)
})

test('an estimate of the end is told where the source has one', async (t) => {
  const from = await databases.terrace(t)
  for (let first = 0; first < scaled(200_000, 50_000); first += 10_000) {
    await from.batch(
      Array.from({ length: 10_000 }, (_, index) => ({
        type: 'put',
        key: `${String(first + index).padStart(9, '0')}`,
        value: 'x'.repeat(20)
      }))
    )
  }
  await from.compactRange('0', '9')
  const told = []
  // Each look at the clock finds that a while has passed.
  let now = performance.now()
  t.mock.method(performance, 'now', () => ++now)
  const slow = new (changing(MemoryLevel, (_, operations) => operations))()
  const { bytes } = await copy(from, slow, {
    batchSize: 50,
    onProgress: (progress) => told.push(progress)
  })
  const estimates = told.filter((each) => each.phase === 'copying').slice(0, -1)
  assert.ok(estimates.length > 0)
  for (const { estimatedBytes } of estimates) {
    assert.ok(estimatedBytes > bytes * 0.7 && estimatedBytes < bytes * 1.4, `${estimatedBytes} of ${bytes}`)
  }
})

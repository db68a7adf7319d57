// Parts of the toolbox over a back-end, and a server before it. The whole tests of the toolbox run over it in test/common.

import assert from 'node:assert/strict'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'
import { temporaryDirectory } from '../../../packages/terrace/test/support/databases.js'
import { socketIn } from '../sockets.mjs'
import { until } from '../waiting.mjs'

/**
 * Registers the tests that hold for any back-end.
 *
 * @param {object} tested
 * @param {(name: string, run: (t: any) => Promise<void>) => void} tested.test
 * @param {(t: any) => Promise<any>} tested.openLevel - Opens a database whose hooks see every write.
 * @param {number} tested.longestBytes - How long a key can be.
 */
export function testToolbox({ test, openLevel, longestBytes }) {
  test('transactions at once, and entries that expire', async (t) => {
    const db = await openLevel(t)
    const transaction = transactions(db)
    const increment = () =>
      transaction(async (tx) => tx.put('count', `${Number((await tx.get('count')) ?? 0) + 1}`))
    await Promise.all(Array.from({ length: 10 }, increment))
    assert.equal(await db.get('count'), '10')

    const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: 1 })
    await sessions.put('id', 'ann')
    await until(async () => (await sessions.get('id')) === undefined)
  })

  test('a server offers a database to clients', async (t) => {
    const db = await openLevel(t)
    const server = createServer(db)
    const client = new NetLevel(await server.listen(`unix:${socketIn(temporaryDirectory(t))}`))
    await client.open()
    t.after(async () => {
      await client.close()
      await server.close()
    })

    await client.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key })))
    const snapshot = client.snapshot()
    await client.del('b')
    assert.deepEqual(await client.keys().all(), ['a', 'c'])
    assert.deepEqual(await client.keys({ snapshot }).all(), ['a', 'b', 'c'])
    assert.deepEqual(await client.keys({ snapshot, reverse: true }).all(), ['c', 'b', 'a'])
    await snapshot.close()
    assert.equal(await db.get('c'), 'c')
    await assert.rejects(client.put('x'.repeat(longestBytes + 1), ''), { code: 'LEVEL_KEY_TOO_LARGE' })
  })
}

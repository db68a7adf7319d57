// Connections that break around COMMIT: every write is there once, none is lost, and none comes late over a newer one.

import assert from 'node:assert/strict'
import { scaled } from '../../../../tests/support/form.mjs'
import { newName, openLevel, test, theServer } from './support/databases.js'
import { CuttingProxy } from './support/proxy.js'

const ROUNDS = scaled(60, 12)

test('a write whose connection is cut around COMMIT is acknowledged, and applied once', async (t) => {
  const server = await theServer()
  const proxy = await CuttingProxy.before(t, server)
  const name = newName()
  const db = await openLevel(t, { name }, proxy.url)
  // Counts each change of a row, which a value that is written twice does not show.
  await server.query('CREATE TABLE IF NOT EXISTS terrace.audit (n INT, k VARBINARY(3068), v LONGBLOB)')
  for (const event of ['INSERT', 'UPDATE']) {
    await server.query(`DROP TRIGGER IF EXISTS terrace.on_${event}`)
    await server.query(
      `CREATE TRIGGER terrace.on_${event} AFTER ${event} ON terrace.terrace FOR EACH ROW INSERT INTO terrace.audit VALUES (NEW.n, NEW.k, NEW.v)`
    )
  }

  for (let round = 0; round < ROUNDS; round++) {
    proxy.next = round % 2 === 0 ? 'before' : 'after'
    if (round % 3 === 0) await db.put('same', `${round}`)
    else {
      await db.batch([
        { type: 'put', key: 'same', value: `${round}` },
        { type: 'put', key: `unique${round}`, value: `${round}` }
      ])
    }
    assert.equal(await db.get('same'), `${round}`)
  }
  assert.equal(proxy.cuts, ROUNDS)
  const [{ n }] = await server.query(`SELECT n FROM terrace.terrace_names WHERE name = '${name}'`)
  const changes = await server.query(
    `SELECT CAST(k AS CHAR) AS k, CAST(v AS CHAR) AS v FROM terrace.audit WHERE n = ${n}`
  )
  assert.deepEqual(
    changes.filter(({ k }) => k === 'same').map(({ v }) => v),
    Array.from({ length: ROUNDS }, (_, round) => `${round}`)
  )
  assert.equal(changes.length, ROUNDS + ROUNDS - ROUNDS / 3)
  for (const event of ['INSERT', 'UPDATE']) await server.query(`DROP TRIGGER terrace.on_${event}`)
})

test('a transaction that a server goes on with late is not committed over a newer write', async (t) => {
  const proxy = await CuttingProxy.before(t, await theServer())
  const db = await openLevel(t, {}, proxy.url)
  for (let round = 0; round < 20; round++) {
    proxy.next = 'held'
    await db.put('key', `${round}`)
    await db.put('key', `newer than ${round}`)
    // What was held back reaches the server only now.
    await Promise.all(proxy.held.splice(0).map((deliver) => deliver()))
    assert.equal(await db.get('key'), `newer than ${round}`)
  }
  assert.equal(proxy.cuts, 20)
})

test('writes that were called before and after the one that is cut keep their order', async (t) => {
  const proxy = await CuttingProxy.before(t, await theServer())
  const db = await openLevel(t, {}, proxy.url)
  for (let round = 0; round < 20; round++) {
    proxy.next = ['before', 'after', 'held'][round % 3]
    const writes = Array.from({ length: 30 }, (_, i) => db.put('key', `${round}-${i}`))
    await Promise.all(writes)
    for (const deliver of proxy.held.splice(0)) deliver()
    assert.equal(await db.get('key'), `${round}-29`)
  }
})

test('each instance has one mark at most, and none once it is closed', async (t) => {
  const server = await theServer()
  const table = 'marks'
  const db = await openLevel(t, { table })
  for (let i = 0; i < 20; i++) await db.put('key', `${i}`)
  const count = async () =>
    Number((await server.query(`SELECT COUNT(*) AS c FROM terrace.${table}_commits`))[0].c)
  assert.equal(await count(), 1)
  await db.close()
  assert.equal(await count(), 0)
  await server.query(
    `INSERT INTO terrace.${table}_commits VALUES ('0123456789abcdef', 1, 1, NOW() - INTERVAL 8 DAY), ('0123456789abcdef', 2, 1, NOW())`
  )
  await db.open()
  assert.equal(await count(), 1)
})

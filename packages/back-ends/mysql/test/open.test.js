// How a database is opened, what is refused, and what is never shown.

import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { MysqlLevel } from 'terrace-mysql'
import { theProduct } from './cluster/products.js'
import { newLevel, newName, openLevel, test, theServer } from './support/databases.js'

/** The reason that `open()` fails for. */
async function refusal(t, options, url) {
  const db = await newLevel(t, options, url)
  const error = await db.open().then(
    () => undefined,
    (error) => error
  )
  assert.equal(error?.code, 'LEVEL_DATABASE_NOT_OPEN')
  return error.cause
}

test('databases of many names share a table, and know nothing of each other', async (t) => {
  const names = ['', 'ü', "'; --"].map((part) => newName() + part)
  const databases = []
  for (const name of names) databases.push(await openLevel(t, { name }))
  for (const [i, db] of databases.entries()) await db.put('key', `${i}`)
  for (const [i, db] of databases.entries()) assert.deepEqual(await db.iterator().all(), [['key', `${i}`]])
  await databases[1].clear()
  assert.deepEqual(await databases[0].keys().all(), ['key'])
  await databases[0].close()
  await databases[0].open()
  assert.equal(await databases[0].get('key'), '0')
})

test('createIfMissing: false wants a database, and errorIfExists wants none', async (t) => {
  const options = { name: newName(), table: 'made' }
  assert.equal((await refusal(t, { ...options, createIfMissing: false })).code, 'LEVEL_DATABASE_MISSING')
  const server = await theServer()
  assert.deepEqual(await server.query("SHOW TABLES IN terrace LIKE 'made%'"), [])
  await openLevel(t, { ...options, errorIfExists: true })
  assert.equal((await refusal(t, { ...options, errorIfExists: true })).code, 'LEVEL_DATABASE_EXISTS')
  await openLevel(t, { ...options, createIfMissing: false })
})

test('two that make the same database at once have the same one', async (t) => {
  const options = { name: newName(), table: `together${process.pid}` }
  const databases = await Promise.all(Array.from({ length: 6 }, () => openLevel(t, options)))
  await databases[0].put('key', 'value')
  for (const db of databases) assert.equal(await db.get('key'), 'value')
})

test('tables of other engines and other columns are refused and left as they are', async (t) => {
  const server = await theServer()
  const columns =
    'n INT UNSIGNED NOT NULL, k VARBINARY(3068) NOT NULL, v LONGBLOB NOT NULL, PRIMARY KEY (n, k)'
  const tables = {
    other: `${columns.replace('3068', '900')}) ENGINE=MyISAM`,
    narrow: `${columns.replace('3068', '100')}) ENGINE=InnoDB`,
    foreign: 'id INT PRIMARY KEY) ENGINE=InnoDB'
  }
  for (const [table, rest] of Object.entries(tables)) {
    await server.query(`CREATE TABLE terrace.\`${table}_x\` (${rest}`)
    const error = await refusal(t, { table: `${table}_x` })
    assert.equal(error.code, 'LEVEL_UNSUPPORTED_FORMAT', table)
  }
  assert.match((await refusal(t, { table: 'other_x' })).message, /MyISAM, not InnoDB/)
})

test('what an open asks of a definition refuses Spider', async () => {
  const { checkDefinition } = await import('../dist/schema.js')
  const shards = 'PARTITION BY KEY (`k`) (PARTITION `p1` COMMENT = \'srv "s1"\' ENGINE = SPIDER)'
  for (const definition of [`CREATE TABLE x () ENGINE=SPIDER`, `CREATE TABLE x () ENGINE=InnoDB ${shards}`]) {
    assert.throws(() => checkDefinition('x', definition, false), {
      code: 'LEVEL_UNSUPPORTED_FORMAT',
      message: /Spider/
    })
  }
})

test('hosts are tried in order; without any, LEVEL_UNAVAILABLE says which', async (t) => {
  const server = await theServer()
  const { user, password } = server.accounts.user
  const login = { hosts: ['127.0.0.1:1', `127.0.0.1:${server.port}`], user, password, schema: 'terrace' }
  const db = new MysqlLevel(login, { name: newName() })
  await db.put('key', 'value')
  assert.equal(await db.get('key'), 'value')
  assert.equal(db.location.includes(`127.0.0.1:1,127.0.0.1:${server.port}/terrace/terrace/`), true)
  await db.close()

  const error = await refusal(
    t,
    { deadlineMs: 300 },
    server.url.replace(`:${server.port}/`, ':1,127.0.0.1:2/')
  )
  assert.equal(error.code, 'LEVEL_UNAVAILABLE')
  assert.match(error.message, /127\.0\.0\.1:1, 127\.0\.0\.1:2/)
})

test('the password is in no error and no inspection', async (t) => {
  const server = await theServer()
  const { password } = server.accounts.user
  const wrong = server.url.replace(password, 'top-secret')
  const error = await refusal(t, {}, wrong)
  assert.equal(error.code, 'LEVEL_ACCESS_DENIED')
  const db = await openLevel(t)
  await db.get('key')
  const closed = await refusal(t, { deadlineMs: 300 }, server.url.replace(`${server.port}`, '1'))
  for (const shown of [error, closed, db, db.location, new MysqlLevel(wrong)]) {
    const text = inspect(shown, { depth: 20, showHidden: true })
    assert.ok(!text.includes(password) && !text.includes('top-secret'), text)
  }
  for (const url of ['mysql://u:top-secret@/x', 'http://u:top-secret@h/x', 'mysql://u:top-secret%@h/x']) {
    assert.throws(
      () => new MysqlLevel(url),
      (thrown) => thrown instanceof TypeError && !inspect(thrown).includes('top-secret')
    )
  }
})

test('errors of the server tell nothing of what was written', async (t) => {
  const server = await theServer()
  const db = await openLevel(t, { table: 'dropped' })
  await db.put('key', 'value')
  await server.query('DROP TABLE terrace.dropped')
  for (const call of [() => db.put('secret-key', 'secret-value'), () => db.get('secret-key')]) {
    const error = await call().catch((error) => error)
    assert.equal(error.code, 'LEVEL_IO_ERROR')
    assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes('secret'))
  }
})

test('options that are not valid are TypeErrors', async () => {
  const { url } = await theServer()
  const options = [
    { name: '' },
    { name: 'x'.repeat(256) },
    { table: 'a`b' },
    { table: 'x'.repeat(49) },
    { poolSize: 1 },
    { deadlineMs: 0 },
    { shared: 'yes' },
    { waitForSync: 1 }
  ]
  for (const each of options) assert.throws(() => new MysqlLevel(url, each), TypeError)
  for (const location of [undefined, 1, {}, { hosts: [] }, 'mysql://host/schema']) {
    assert.throws(() => new MysqlLevel(location), TypeError)
  }
})

test('hooks are told whether others write', async (t) => {
  assert.equal((await openLevel(t)).supports.everyWrite, false)
  assert.equal((await openLevel(t, { shared: false })).supports.everyWrite, true)
})

test('the server tells what it is, and the session is what is wanted', async (t) => {
  const db = await openLevel(t)
  assert.equal(db.server.product, theProduct.name)
  assert.equal(db.server.flushesCommits, true)
  assert.equal(db.server.isClustered, false)
  await db.close()
  assert.equal(db.server, undefined)
})

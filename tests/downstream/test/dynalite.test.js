// dynalite: a server of DynamoDB's protocol, with a table of packages and an index by licence.

import assert from 'node:assert/strict'
import { Server } from './support/dynalite.js'
import { packages } from './support/packages.js'
import { takeTurns } from './support/turns.js'

const TableName = 'Packages'
const IndexName = 'ByLicense'
const AT_ONCE = 25

const TABLE = {
  TableName,
  AttributeDefinitions: ['lock', 'package', 'license'].map((AttributeName) => ({
    AttributeName,
    AttributeType: 'S'
  })),
  KeySchema: schema('lock', 'package'),
  GlobalSecondaryIndexes: [
    {
      IndexName,
      KeySchema: schema('license', 'package'),
      Projection: { ProjectionType: 'ALL' },
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
    }
  ],
  ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
}

function schema(hash, range) {
  return [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' }
  ]
}

const input = packages()
const half = input.length >> 1
const early = input.slice(0, half)
const late = input.slice(half)

// The second half of the work deletes some of the early packages, and gives others a different licence.
const deleted = early.filter((_, index) => index % 9 === 2)
const changed = early.filter((_, index) => index % 9 === 5)
const CHANGED_LICENSE = 'public domain – gemeinfrei'

/** The packages that exist in the end. */
const remaining = input
  .filter((one) => !deleted.includes(one))
  .map((one) => (changed.includes(one) ? { ...one, license: CHANGED_LICENSE } : one))

const labelOf = ({ name, version }) => `${name}@${version}`
const keyOf = (one) => ({ lock: { S: one.lock }, package: { S: labelOf(one) } })
const itemOf = (one) => ({
  ...keyOf(one),
  license: { S: one.license },
  count: { N: String(one.dependencies.length) },
  dependencies: { L: one.dependencies.map((name) => ({ S: name })) }
})

/** The table is made after the answer to the request for it. Until then, writes are refused. */
async function tableIsActive(server) {
  for (let status; status !== 'ACTIVE'; ) {
    const { Table } = await server.ask('DescribeTable', { TableName })
    status = Table.TableStatus
  }
}

/** Puts packages, this many in each request. */
async function putAll(server, list) {
  for (let at = 0; at < list.length; at += AT_ONCE) {
    const requests = list.slice(at, at + AT_ONCE).map((one) => ({ PutRequest: { Item: itemOf(one) } }))
    const answer = await server.ask('BatchWriteItem', { RequestItems: { [TableName]: requests } })
    assert.deepEqual(answer.UnprocessedItems, {})
  }
}

/** Gives a package another licence, if it does not have it yet. */
const relicense = (server, one) =>
  server.ask('UpdateItem', {
    TableName,
    Key: keyOf(one),
    UpdateExpression: 'SET license = :license',
    ConditionExpression: 'license <> :license',
    ExpressionAttributeValues: { ':license': { S: CHANGED_LICENSE } }
  })

const ofLicense = (server, license, more) =>
  server.ask('Query', {
    TableName,
    IndexName,
    KeyConditionExpression: 'license = :license',
    ExpressionAttributeValues: { ':license': { S: license } },
    ...more
  })

/** All of a table, page by page. */
async function scan(server) {
  const items = []
  let ExclusiveStartKey
  do {
    const page = await server.ask('Scan', { TableName, Limit: 100, ExclusiveStartKey })
    items.push(...page.Items)
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
  return items
}

takeTurns('dynalite', {
  open: (DatabaseClass, directory) => Server.start(DatabaseClass, directory),

  close: (server) => server.stop(),

  async begin(server) {
    const { TableDescription } = await server.ask('CreateTable', TABLE)
    assert.equal(TableDescription.TableName, TableName)
    await tableIsActive(server)
    await putAll(server, early)
  },

  async goOn(server) {
    for (const one of deleted) await server.ask('DeleteItem', { TableName, Key: keyOf(one) })
    await Promise.all(changed.map((one) => relicense(server, one)))
    await putAll(server, late)
  },

  async answers(server) {
    const root = {
      KeyConditionExpression: '#lock = :lock AND begins_with(package, :prefix)',
      ExpressionAttributeNames: { '#lock': 'lock' },
      ExpressionAttributeValues: { ':lock': { S: 'root' }, ':prefix': { S: '@' } }
    }
    return {
      tables: await server.ask('ListTables', {}),
      one: await server.ask('GetItem', { TableName, Key: keyOf(late[0]) }),
      none: await server.ask('GetItem', { TableName, Key: keyOf(deleted[0]) }),
      scan: await scan(server),
      scoped: await server.ask('Query', { TableName, ...root }),
      backwards: await server.ask('Query', { TableName, ...root, ScanIndexForward: false, Limit: 5 }),
      changed: await ofLicense(server, CHANGED_LICENSE),
      count: await ofLicense(server, 'ISC', { Select: 'COUNT' }),
      refused: await relicense(server, changed[0])
    }
  },

  check(answers) {
    const labels = (list) => list.map(labelOf).sort()
    const scoped = remaining.filter(({ lock, name }) => lock === 'root' && name.startsWith('@'))
    assert.deepEqual(answers.tables.TableNames, [TableName])
    assert.deepEqual(answers.one.Item, itemOf(late[0]))
    assert.deepEqual(answers.none, {})
    assert.equal(answers.scan.length, remaining.length)
    assert.deepEqual(
      answers.scoped.Items.map((item) => item.package.S),
      labels(scoped)
    )
    assert.equal(answers.backwards.Items[0].package.S, labels(scoped).at(-1))
    assert.deepEqual(
      answers.changed.Items.map((item) => item.package.S),
      labels(changed)
    )
    assert.equal(answers.count.Count, remaining.filter(({ license }) => license === 'ISC').length)
    assert.deepEqual(answers.refused, { error: 'ConditionalCheckFailedException' })
  },

  // The description of a table has the time of its creation.
  isTime: (key) => key.toString().startsWith('table~')
})

// dynalite 3, a server for DynamoDB's protocol, on leveldown.

const { createHash } = require('node:crypto')
const { print, run } = require('./support/print.js')

const dynalite = require('dynalite')

const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=a/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b'

async function started(path) {
  const server = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  return {
    async ask(operation, body) {
      const headers = {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': `DynamoDB_20120810.${operation}`,
        'X-Amz-Date': '20260101T000000Z',
        Authorization: SIGNATURE,
        Connection: 'close'
      }
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body)
      })
      const answer = await response.json()
      return response.ok ? answer : { error: answer.__type.split('#').at(-1) }
    },
    stop: () => new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())))
  }
}

const TABLE = {
  TableName: 'things',
  AttributeDefinitions: [
    { AttributeName: 'kind', AttributeType: 'S' },
    { AttributeName: 'n', AttributeType: 'N' },
    { AttributeName: 'colour', AttributeType: 'S' }
  ],
  KeySchema: [
    { AttributeName: 'kind', KeyType: 'HASH' },
    { AttributeName: 'n', KeyType: 'RANGE' }
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'colours',
      KeySchema: [
        { AttributeName: 'colour', KeyType: 'HASH' },
        { AttributeName: 'n', KeyType: 'RANGE' }
      ],
      Projection: { ProjectionType: 'ALL' },
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
    }
  ],
  ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
}

async function active(server) {
  while ((await server.ask('DescribeTable', { TableName: 'things' })).Table.TableStatus !== 'ACTIVE')
    await new Promise(setImmediate)
}

async function main() {
  let server = await started('things.db')
  print('table', (await server.ask('CreateTable', TABLE)).TableDescription.TableName)
  await active(server)
  for (let from = 0; from < 500; from += 25) {
    const puts = Array.from({ length: 25 }, (_, i) => ({
      PutRequest: {
        Item: {
          kind: { S: ['fruit', 'tool'][i % 2] },
          n: { N: String(from + i - 100) },
          colour: { S: ['red', 'green', 'blue'][i % 3] },
          text: { S: 'größer '.repeat(i) }
        }
      }
    }))
    const { UnprocessedItems } = await server.ask('BatchWriteItem', { RequestItems: { things: puts } })
    if (Object.keys(UnprocessedItems).length > 0) print('left', UnprocessedItems)
  }
  const Key = { kind: { S: 'fruit' }, n: { N: '4' } }
  print('get', await server.ask('GetItem', { TableName: 'things', Key, ProjectionExpression: 'colour' }))
  print(
    'update',
    await server.ask('UpdateItem', {
      TableName: 'things',
      Key,
      UpdateExpression: 'SET colour = :c ADD tries :one',
      ExpressionAttributeValues: { ':c': { S: 'blue' }, ':one': { N: '1' } },
      ReturnValues: 'UPDATED_NEW'
    })
  )
  print(
    'condition',
    await server.ask('PutItem', {
      TableName: 'things',
      Item: Key,
      ConditionExpression: 'attribute_not_exists(n)'
    })
  )
  print(
    'delete',
    await server.ask('DeleteItem', {
      TableName: 'things',
      Key: { ...Key, n: { N: '6' } },
      ReturnValues: 'ALL_OLD'
    })
  )
  print('no table', await server.ask('GetItem', { TableName: 'none', Key }))
  await server.stop()

  server = await started('things.db')
  const query = (more) =>
    server
      .ask('Query', { TableName: 'things', ...more })
      .then(({ Items, Count }) => [Count, Items.map(({ n }) => n.N).join(' ')])
  const range = {
    KeyConditionExpression: 'kind = :k AND n BETWEEN :a AND :b',
    ExpressionAttributeValues: { ':k': { S: 'fruit' }, ':a': { N: '-10' }, ':b': { N: '12' } }
  }
  print('range', await query(range), await query({ ...range, ScanIndexForward: false, Limit: 3 }))
  print(
    'index',
    await query({
      IndexName: 'colours',
      KeyConditionExpression: 'colour = :c AND n > :a',
      ExpressionAttributeValues: { ':c': { S: 'blue' }, ':a': { N: '380' } }
    })
  )
  const { Items, Count } = await server.ask('Scan', { TableName: 'things' })
  print('scan', Count, createHash('sha256').update(JSON.stringify(Items)).digest('hex'))
  print('tables', await server.ask('ListTables', {}))
  print('gone', (await server.ask('DeleteTable', { TableName: 'things' })).TableDescription.TableStatus)
  await server.stop()
}

run(main)

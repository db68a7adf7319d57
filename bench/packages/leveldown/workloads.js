// The workloads of programs.js. This process runs one in its current directory, and sends its parent what each step cost:
//
//   fork('workloads.js', [TREE, PROGRAM, SIZE])
//
// TREE is a directory with `node_modules`. SIZE is a factor for the numbers of operations. Every read is checked.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import net from 'node:net'
import { join, resolve } from 'node:path'

const [tree, program, size] = process.argv.slice(2)
const require = createRequire(join(tree, 'package.json'))

// flumelog-level prints every entry that it reads.
console.log = () => {}

const hash = (text) => createHash('sha256').update(text).digest()
const keyOf = (i) => hash(`key ${i}`).toString('hex').slice(0, 16)
/** 128 characters, of which half repeat. */
const textOf = (i) => hash(`value ${i}`).toString('hex').padEnd(128, 'terrace ')

const call = (object, method, ...args) =>
  new Promise((resolve, reject) => {
    object[method](...args, (error, value) => (error ? reject(error) : resolve(value)))
  })

const steps = []

/** Measures a step that does `count` operations. */
async function step(name, count, work) {
  const used = process.cpuUsage()
  const began = performance.now()
  await work()
  const milliseconds = performance.now() - began
  const { user, system } = process.cpuUsage(used)
  steps.push({ name, count, milliseconds, processor: (user + system) / 1000 })
}

/** Measures `count` operations, one after another. */
const each = (name, count, work) =>
  step(name, count, async () => {
    for (let i = 0; i < count; i++) await work(i)
  })

/** Puts, gets and streams entries with the API of levelup. */
async function entries(db, count, options = {}) {
  await each('put', count, (i) => call(db, 'put', keyOf(i), textOf(i), options))
  await each('get', count, async (i) => assert.equal(await call(db, 'get', keyOf(i)), textOf(i)))
  // level-ttl has two entries with its times beside each.
  const all = options.ttl === undefined ? count : 3 * count
  await step('stream', all, async () => assert.equal(await streamed(db.createReadStream()), all))
}

async function streamed(stream) {
  let count = 0
  stream.on('data', () => count++)
  await once(stream, 'end')
  return count
}

/** How many values a source of pull-stream has. */
async function pulled(source) {
  const pull = require('pull-stream')
  return (await call({ run: (done) => pull(source, pull.collect(done)) }, 'run')).length
}

/** Connects two streams over TCP, without Nagle's algorithm, whose delays would hide everything else. */
async function connected(serverStream, clientStream) {
  const join = (connection, stream) => connection.setNoDelay().pipe(stream).pipe(connection)
  const server = net.createServer((connection) => join(connection, serverStream()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  join(net.connect(server.address().port, '127.0.0.1'), clientStream())
}

const levelup = () => require('levelup')(require('encoding-down')(require('leveldown')('db')))

const WORKLOADS = {
  levelup: (n) => entries(levelup(), n(20_000)),
  level: (n) => entries(require('level-7')('db'), n(20_000)),
  'level-mem': (n) => entries(require('level-mem')(), n(20_000)),
  'level-sublevel'(n) {
    const db = require('levelup-1')('db', { db: require('leveldown') })
    return entries(require('level-sublevel')(db).sublevel('stuff'), n(20_000))
  },
  subleveldown: (n) => entries(require('subleveldown')(levelup(), 'stuff'), n(20_000)),
  async multilevel(n) {
    const multilevel = require('multilevel')
    const db = require('level-sublevel')(require('levelup-1')('db', { db: require('leveldown') }))
    multilevel.writeManifest(db, resolve('manifest.json'))
    const client = multilevel.client(require(resolve('manifest.json')))
    await connected(
      () => multilevel.server(db),
      () => client.createRpcStream()
    )
    await entries(client, n(5000))
  },
  async multileveldown(n) {
    const multileveldown = require('multileveldown')
    const db = levelup()
    const client = multileveldown.client()
    await connected(
      () => multileveldown.server(db),
      () => client.connect()
    )
    await entries(client, n(5000))
  },
  'level-party': (n) => entries(require('level-party')('db'), n(20_000)),
  'level-ttl': (n) => entries(require('level-ttl')(levelup()), n(5000), { ttl: 3_600_000 }),

  async PouchDB(n) {
    const PouchDB = require('pouchdb-core').plugin(require('pouchdb-adapter-leveldb'))
    const db = new PouchDB('db', { adapter: 'leveldb' })
    const count = n(10_000)
    const docs = Array.from({ length: count }, (_, i) => ({ _id: keyOf(i), n: i, text: textOf(i) }))
    await step('bulkDocs', count, async () => {
      assert.ok((await db.bulkDocs(docs)).every(({ ok }) => ok))
    })
    await each('get', count, async (i) => assert.equal((await db.get(keyOf(i))).n, i))
    await step('allDocs', count, async () => {
      assert.equal((await db.allDocs({ include_docs: true })).rows.length, count)
    })
  },

  async 'merkle-patricia-tree'(n) {
    const { BaseTrie } = require('merkle-patricia-tree')
    const trie = new BaseTrie(require('level-6')('db'))
    const count = n(5000)
    await each('put', count, (i) => trie.put(hash(`key ${i}`), Buffer.from(textOf(i))))
    await each('get', count, async (i) => {
      assert.equal(String(await trie.get(hash(`key ${i}`))), textOf(i))
    })
  },

  async 'y-leveldb'(n) {
    const { LeveldbPersistence } = require('y-leveldb-0.1')
    const Y = require('yjs')
    const count = n(5000)
    const updates = []
    const person = new Y.Doc()
    person.on('update', (update) => updates.push(update))
    const body = person.getText('body')
    for (let i = 0; i < count; i++) body.insert((i * 7) % (body.length + 1), `word ${i} `)
    const persistence = new LeveldbPersistence('db')
    await each('storeUpdate', count, (i) => persistence.storeUpdate('notes', updates[i]))
    await step('getYDoc', count, async () => {
      const doc = await persistence.getYDoc('notes')
      assert.equal(doc.getText('body').toString(), body.toString())
    })
  },

  async dynalite(n) {
    const server = require('dynalite')({ path: 'db', createTableMs: 0 })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const ask = asker(server.address().port)
    const TableName = 'things'
    await ask('CreateTable', {
      TableName,
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
    })
    while ((await ask('DescribeTable', { TableName })).Table.TableStatus !== 'ACTIVE') {
      await new Promise(setImmediate)
    }
    const count = n(2000)
    const item = (i) => ({ name: { S: keyOf(i) }, text: { S: textOf(i) } })
    await each('PutItem', count, (i) => ask('PutItem', { TableName, Item: item(i) }))
    await each('GetItem', count, async (i) => {
      const { Item } = await ask('GetItem', { TableName, Key: { name: item(i).name } })
      assert.deepEqual(Item, item(i))
    })
    await step('Scan', count, async () => assert.equal((await ask('Scan', { TableName })).Count, count))
  },

  async 'ethereumjs-blockchain'(n) {
    const Block = require('ethereumjs-block')
    const Blockchain = require('ethereumjs-blockchain').default
    const chain = new Blockchain({ db: require('level-4')('db'), validate: false })
    const genesis = new Block()
    genesis.setGenesisParams()
    await call(chain, 'putGenesis', genesis)
    const count = n(1000)
    const blocks = [genesis]
    for (let i = 1; i <= count; i++) {
      const block = new Block()
      Object.assign(block.header, { number: i, difficulty: '0xfffff', parentHash: blocks[i - 1].hash() })
      blocks.push(block)
    }
    await each('putBlock', count, (i) => call(chain, 'putBlock', blocks[i + 1]))
    await each('getBlock', count, async (i) => {
      assert.deepEqual((await call(chain, 'getBlock', i + 1)).hash(), blocks[i + 1].hash())
    })
  },

  async ganache(n) {
    const provider = require('ganache').provider({
      database: { dbPath: 'db' },
      logging: { quiet: true },
      wallet: { deterministic: true, totalAccounts: 2 }
    })
    const ask = (method, ...params) => provider.request({ method, params })
    const [from, to] = await ask('eth_accounts')
    const transfer = { from, to, value: '0x1', gas: '0x5208', gasPrice: '0x77359400' }
    const count = n(500)
    const sent = []
    await each('transfer', count, async () => sent.push(await ask('eth_sendTransaction', transfer)))
    await each('receipt', count, async (i) => {
      assert.equal((await ask('eth_getTransactionReceipt', sent[i])).status, '0x1')
    })
    await each('block', count, async (i) => {
      assert.equal(
        (await ask('eth_getBlockByNumber', `0x${(i + 1).toString(16)}`, true)).transactions.length,
        1
      )
    })
  },

  async 'flumelog-level'(n) {
    mkdirSync('db')
    const log = require('flumelog-level')(join('db', 'log'))
    const count = n(10_000)
    await each('append', count, (i) => call(log, 'append', { text: textOf(i) }))
    await step('stream', count, async () => {
      assert.equal(await pulled(log.stream({ seqs: false, values: true })), count)
    })
  },

  async 'flumeview-level'(n) {
    mkdirSync('db')
    const codec = require('flumecodec').json
    const log = require('flumelog-offset')(join('db', 'log.offset'), { blockSize: 65536, codec })
    const index = require('flumeview-level')(1, ({ text }) => [['text', text]])
    const db = require('flumedb')(log).use('index', index)
    const count = n(10_000)
    const messages = Array.from({ length: count }, (_, i) => ({ text: textOf(i) }))
    await step('append', count, async () => {
      await call(db, 'append', messages)
      await call(db.index, 'get', ['text', textOf(0)])
    })
    await each('get', count, async (i) => {
      assert.equal((await call(db.index, 'get', ['text', textOf(i)])).text, textOf(i))
    })
    await step('read', count, async () => assert.equal(await pulled(db.index.read({})), count))
  },

  async 'ssb-db'(n) {
    mkdirSync('db')
    const keys = require('ssb-keys').generate()
    const db = require('ssb-db/create')('db', {}, keys)
    const feed = db.createFeed(keys)
    const count = n(2000)
    const posts = Array.from({ length: count }, (_, i) => ({ type: 'post', text: textOf(i) }))
    const added = []
    // It writes what was added together. About a thousand posts at once are too many for its queue.
    await step('add', count, async () => {
      while (added.length < count) {
        const together = posts.slice(added.length, added.length + 100)
        added.push(...(await Promise.all(together.map((post) => call(feed, 'add', post)))))
      }
    })
    await each('get', count, async (i) => {
      assert.equal((await call(db, 'get', added[i].key)).content.text, textOf(i))
    })
    await step('createUserStream', count, async () => {
      assert.equal(await pulled(db.createUserStream({ id: keys.id })), count)
    })
  }
}

/** A function that asks a server for DynamoDB's protocol, over one connection. */
function asker(port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const headers = {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Date': '20260101T000000Z',
    Authorization:
      'AWS4-HMAC-SHA256 Credential=a/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b'
  }
  return async (operation, body) => {
    const request = http.request({
      port,
      agent,
      method: 'POST',
      headers: { ...headers, 'X-Amz-Target': `DynamoDB_20120810.${operation}` }
    })
    request.end(JSON.stringify(body))
    const [response] = await once(request, 'response')
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += part
    assert.equal(response.statusCode, 200, text)
    return JSON.parse(text)
  }
}

const began = performance.now()
require('leveldown')
const loading = performance.now() - began
require('memdown')
await WORKLOADS[program]((count) => Math.max(1, Math.round(count * Number(size))))
process.send({ loading, steps }, () => process.exit())

// The client in a page, as the module that the package brings: what it does, and what it refuses.
//
// Long: a browser more, for what the tests of terrace-net try in Node.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { serve } from './support/served.js'
import { serveSite } from './support/site.js'

const openPage = useBrowser()

/** How a page's attempt to open a database ended. */
const attempt = (page, address, options) =>
  page.evaluate(
    async ([address, options]) => {
      const { NetLevel } = await import('/terrace-net.js')
      const db = new NetLevel(address, options)
      try {
        await db.open()
        return { user: db.user }
      } catch ({ cause }) {
        return { code: cause.code, message: cause.message }
      } finally {
        await db.close()
      }
    },
    [address, options]
  )

test('a page reads and writes, with encodings, sublevels, hooks, snapshots and large values', async (t) => {
  const origin = await serveSite(t)
  const { db, address } = await serve(t, { origins: [origin] })
  const page = await openPage(t, origin)
  const seen = await page.evaluate(async (address) => {
    const { NetLevel } = await import('/terrace-net.js')
    const db = new NetLevel(address)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const names = db.sublevel('names')
    users.hooks.prewrite.add(({ key, value }, batch) =>
      batch.add({ type: 'put', key: value.name, value: key, sublevel: names })
    )
    await users.batch([
      { type: 'put', key: '1', value: { name: 'Ada' } },
      { type: 'put', key: '2', value: { name: 'Ünal 🙂' } }
    ])
    const snapshot = db.snapshot()
    await users.clear()
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const large = new Uint8Array(5 << 20).map((_, i) => bytes[i % bytes.length])
    await db.put('large', large, { valueEncoding: 'view' })
    const back = await db.get('large', { valueEncoding: 'view' })
    const buffer = await db.get('large', { valueEncoding: 'buffer' })
    const iterator = names.iterator({ limit: 1 })
    iterator.seek('B')
    const result = {
      names: await names.keys().all(),
      gone: await users.get('1'),
      before: await users.get('1', { snapshot }),
      sought: await iterator.all(),
      has: await db.hasMany(['large', 'missing']),
      isSame:
        back.length === large.length && large.every((byte, i) => back[i] === byte && buffer[i] === byte),
      binary: await db.put(new Uint8Array([0xff, 0]), 'x', { keyEncoding: 'view' }).then(() =>
        db
          .keys()
          .all()
          .then(({ length }) => length)
      ),
      isOnline: db.isOnline,
      // What a page has is not changed.
      globals: ['Buffer', 'process', 'setImmediate', 'global'].filter((name) => name in globalThis)
    }
    await snapshot.close()
    await db.close()
    return result
  }, address)
  assert.deepEqual(seen, {
    names: ['Ada', 'Ünal 🙂'],
    gone: undefined,
    before: { name: 'Ada' },
    sought: [['Ünal 🙂', '2']],
    has: [true, false],
    isSame: true,
    binary: 4,
    isOnline: true,
    globals: []
  })
  assert.equal(await db.get('!names!Ünal 🙂', { keyEncoding: 'utf8', valueEncoding: 'utf8' }), '2')
  assert.deepEqual(page.problems, [])
})

test('a worker of a page uses it as well', async (t) => {
  const origin = await serveSite(t, {
    '/worker.js': `import { NetLevel } from '/terrace-net.js'
      onmessage = async ({ data }) => {
        const db = new NetLevel(data)
        await db.put('from', 'a worker')
        postMessage(await db.get('from'))
        await db.close()
      }`
  })
  const { address } = await serve(t, { origins: [origin] })
  const page = await openPage(t, origin)
  const answer = await page.evaluate(
    (address) =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
        worker.postMessage(address)
      }),
    address
  )
  assert.equal(answer, 'a worker')
})

test('addresses of TCP, TLS and Unix sockets are refused with advice', async (t) => {
  const page = await openPage(t, await serveSite(t))
  const errors = await page.evaluate(async () => {
    const { NetLevel } = await import('/terrace-net.js')
    return ['tcp://127.0.0.1:7817', 'tls://127.0.0.1:7817', 'unix:/a.sock', 'nonsense'].map((address) => {
      try {
        return new NetLevel(address)
      } catch ({ code, message }) {
        return [code, message]
      }
    })
  })
  for (const [i, scheme] of ['tcp:', 'tls:', 'unix:'].entries()) {
    const [code, message] = errors[i]
    assert.equal(code, 'NET_INVALID')
    assert.match(message, new RegExp(`cannot connect by ${scheme}.*ws: and wss:`))
  }
  assert.equal(errors[3][0], 'NET_INVALID')
  assert.deepEqual(page.problems, [])
})

test('a server without tokens refuses pages of every site that it was not told of', async (t) => {
  const [friend, stranger] = [await serveSite(t), await serveSite(t)]
  const { server, address } = await serve(t, { origins: [friend] })
  const page = await openPage(t, stranger)
  const { code, message } = await attempt(page, address)
  assert.equal(code, 'NET_OFFLINE')
  assert.ok(message.includes(`refuses pages from ${stranger} (option 'origins' of the server)`), message)
  assert.equal(server.statistics().acceptedConnections, 0)
  assert.deepEqual(await attempt(await openPage(t, friend), address), { user: null })

  const { address: closed } = await serve(t)
  assert.equal((await attempt(await openPage(t, friend), closed)).code, 'NET_OFFLINE')
})

test('a server with tokens takes them from pages of any site, in the first message and not in the address', async (t) => {
  const page = await openPage(t, await serveSite(t))
  const { address } = await serve(t, { tokens: { 'a secret': { name: 'ada' } } })
  const asked = []
  const sent = []
  page.on('websocket', (socket) => {
    asked.push(socket.url())
    socket.once('framesent', ({ payload }) => sent.push(payload.toString('latin1')))
  })
  assert.deepEqual(await attempt(page, address, { token: 'a secret' }), { user: 'ada' })
  assert.equal((await attempt(page, address, { token: 'wrong' })).code, 'NET_UNAUTHENTICATED')
  assert.equal((await attempt(page, address)).code, 'NET_UNAUTHENTICATED')
  assert.deepEqual(asked, [address, address, address])
  assert.ok(sent[0].includes('a secret'))
  assert.deepEqual(page.problems, [])
})

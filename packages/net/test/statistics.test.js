// What a server counts, and how it shows that.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { feed } from 'terrace-toolbox/feed'
import { holdClock } from '../../../tests/support/clock.mjs'
import { HANG_MS, until } from '../../../tests/support/waiting.mjs'
import { parse } from './support/prometheus.js'
import { serve } from './support/served.js'

const bounded = { timeout: HANG_MS }

test('requests are counted by name, failures apart', bounded, async (t) => {
  const served = await serve({ methods: { fail: () => Promise.reject(new Error('no')) } })
  t.after(() => served.stop())
  const client = served.connect()
  await client.put('a', '1')
  await client.batch([{ type: 'put', key: 'b', value: '2' }])
  await client.get('a')
  await client.get('missing')
  await client.getMany(['a', 'b'])
  await client.has('a')
  await assert.rejects(client.call('fail'), /no/)
  await assert.rejects(client.call('unknown'), { code: 'NET_UNKNOWN_METHOD' })

  const { requests } = served.server.statistics()
  const counts = Object.fromEntries(
    Object.entries(requests).map(([name, { count, failures }]) => [name, [count, failures]])
  )
  assert.deepEqual(counts.write, [2, 0])
  assert.deepEqual(counts.get, [2, 0])
  assert.deepEqual(counts.getMany, [1, 0])
  assert.deepEqual(counts.has, [1, 0])
  assert.deepEqual(counts.call, [2, 2])
  assert.deepEqual(counts.clear, [0, 0])
})

const nothingOpen = { connections: 1, sessions: 1, iterators: 0, snapshots: 0, watches: 0, changes: 0 }

test('what is open is counted while it is open', bounded, async (t) => {
  const served = await serve()
  t.after(() => served.stop())
  const client = served.connect()
  await client.put('a', '1')
  await client.put('b', '2')
  const snapshot = client.snapshot()
  const iterator = client.iterator()
  await iterator.next()
  assert.deepEqual(served.server.statistics().open, {
    ...nothingOpen,
    iterators: 1,
    snapshots: 1
  })

  await iterator.close()
  await snapshot.close()
  await client.get('a')
  assert.deepEqual(served.server.statistics().open, nothingOpen)
  await client.close()
  await until(() => served.server.statistics().open.connections === 0)
  assert.equal(served.server.statistics().open.sessions, 0)
})

test(
  'open subscriptions are counted by what they are to, those that have ended left out',
  bounded,
  async (t) => {
    const db = new MemoryLevel()
    await db.open()
    const changes = feed(db)
    const served = await serve({ db, feeds: { changes }, limits: { unsentEventBytes: 500 } })
    t.after(() => served.stop())
    const base = await served.server.serveMetrics('127.0.0.1:0')
    const client = served.connect()
    const subscriptions = [client.watch(), client.watch(), client.changes('changes')]
    await client.get('a')
    assert.deepEqual(served.server.statistics().open, { ...nothingOpen, watches: 2, changes: 1 })
    const metrics = parse(await (await fetch(`${base}/metrics`)).text())
    assert.deepEqual(
      metrics.get('terrace_net_subscriptions').samples.map(({ labels, value }) => [labels.method, value]),
      [
        ['watch', 2],
        ['changes', 1]
      ]
    )

    // More than a subscriber may leave lying, and one of them takes nothing.
    const heard = subscriptions[0].next()
    await client.put('a', 'x'.repeat(400))
    await heard
    await client.put('b', 'x'.repeat(400))
    await client.get('a')
    assert.equal(served.server.statistics().open.watches, 1)
    await Promise.all(subscriptions.map((each) => each.return()))
    await client.get('a')
    assert.deepEqual(served.server.statistics().open, nothingOpen)
  }
)

test('bytes of open and of closed connections are counted', bounded, async (t) => {
  const served = await serve()
  t.after(() => served.stop())
  const client = served.connect()
  await client.put('a', 'x'.repeat(100_000))
  await client.get('a')
  const open = served.server.statistics()
  assert.ok(open.receivedBytes > 100_000 && open.receivedBytes < 102_000, String(open.receivedBytes))
  assert.ok(open.sentBytes > 100_000 && open.sentBytes < 102_000, String(open.sentBytes))

  await client.close()
  await until(() => served.server.statistics().open.connections === 0)
  const closed = served.server.statistics()
  assert.ok(closed.receivedBytes > open.receivedBytes)
  assert.ok(closed.sentBytes >= open.sentBytes)
  assert.equal(closed.acceptedConnections, 1)
})

test('refused connections are counted by the code of the error', bounded, async (t) => {
  const served = await serve({ tokens: { right: { name: 'ada' } } })
  t.after(() => served.stop())
  await assert.rejects(served.connect({ token: 'wrong' }).open())
  await assert.rejects(served.connect().open())
  const garbage = connect(served.address.slice('unix:'.length))
  garbage.on('error', () => {})
  garbage.write(Buffer.from([1, 0, 0, 0, 9, 9, 9, 9, 9]))
  garbage.resume()
  await once(garbage, 'close')
  assert.deepEqual(served.server.statistics().refusedConnections, { NET_UNAUTHENTICATED: 2, NET_PROTOCOL: 1 })
})

test('latencies fall into the buckets of their times', bounded, async (t) => {
  const clock = holdClock(t)
  const served = await serve({ methods: { wait: (ms) => clock.advance(ms), now: () => null } })
  t.after(() => served.stop())
  const client = served.connect()
  await client.call('now')
  await client.call('wait', 60)
  const { count, latency } = served.server.statistics().requests.call
  assert.equal(count, 2)
  assert.equal(latency.sumSeconds, 0.06)
  const counts = latency.buckets.map((bucket) => bucket.count)
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
    'the counts are cumulative'
  )
  const within = (seconds) => latency.buckets.find((bucket) => bucket.seconds === seconds).count
  assert.equal(within(0.05), 1, 'the one that waited is in none of the short buckets')
})

test('a page that gives its name the address of this machine sees no statistics', bounded, async (t) => {
  const served = await serve()
  t.after(() => served.stop())
  const { port } = new URL(await served.server.serveMetrics('127.0.0.1:0'))
  const statusFor = async (host) => {
    const [response] = await once(get({ port, path: '/metrics.json', headers: { host } }), 'response')
    response.resume()
    return response.statusCode
  }
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `[::1]:${port}`
  ])
    assert.equal(await statusFor(host), 200, host)
  for (const host of ['example.com', `example.com:${port}`, `127.0.0.1.example.com:${port}`, 'localhost.'])
    assert.equal(await statusFor(host), 403, host)
})

test('the text for Prometheus says what the statistics say', bounded, async (t) => {
  const served = await serve({ tokens: { right: { name: 'ada' } } })
  t.after(() => served.stop())
  const base = await served.server.serveMetrics('127.0.0.1:0')
  assert.match(base, /^http:\/\/127\.0\.0\.1:\d+$/)
  await assert.rejects(served.connect({ token: 'wrong' }).open())
  const client = served.connect({ token: 'right' })
  for (let i = 0; i < 10; i++) await client.put(`key ${i}`, 'value')
  await assert.rejects(client.call('nothing'), { code: 'NET_UNKNOWN_METHOD' })

  const response = await fetch(`${base}/metrics`)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const metrics = parse(await response.text())
  const json = await (await fetch(`${base}/metrics.json`)).json()
  assert.deepEqual(json, JSON.parse(JSON.stringify(served.server.statistics())))

  const value = (name, labels = {}) => {
    const { samples } = metrics.get(name.replace(/_(bucket|sum|count)$/, '')) ?? metrics.get(name)
    const wanted = Object.entries(labels)
    const found = samples.filter(
      (sample) => sample.name === name && wanted.every(([label, text]) => sample.labels[label] === text)
    )
    assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)}`)
    return found[0].value
  }
  assert.equal(value('terrace_net_connections'), json.open.connections)
  assert.equal(value('terrace_net_sessions'), 1)
  assert.equal(value('terrace_net_accepted_connections_total'), 2)
  assert.equal(value('terrace_net_refused_connections_total', { code: 'NET_UNAUTHENTICATED' }), 1)
  assert.equal(value('terrace_net_received_bytes_total'), json.receivedBytes)
  assert.equal(value('terrace_net_sent_bytes_total'), json.sentBytes)
  assert.equal(value('terrace_net_start_time_seconds'), Date.parse(json.since) / 1000)
  assert.equal(value('terrace_net_request_failures_total', { request: 'call' }), 1)

  const histogram = metrics.get('terrace_net_request_duration_seconds')
  for (const [request, { count, latency }] of Object.entries(json.requests)) {
    const ofRequest = histogram.samples.filter(({ labels }) => labels.request === request)
    const buckets = ofRequest.filter(({ name }) => name.endsWith('_bucket'))
    const bounds = buckets.map(({ labels }) => Number(labels.le.replace('+Inf', 'Infinity')))
    assert.deepEqual(bounds, [...latency.buckets.map(({ seconds }) => seconds), Number.POSITIVE_INFINITY])
    assert.deepEqual(
      bounds,
      bounds.toSorted((a, b) => a - b)
    )
    assert.deepEqual(
      buckets.map((bucket) => bucket.value),
      [...latency.buckets.map((bucket) => bucket.count), count]
    )
    assert.equal(value('terrace_net_request_duration_seconds_count', { request }), count)
    assert.equal(value('terrace_net_request_duration_seconds_sum', { request }), latency.sumSeconds)
  }
  assert.equal(value('terrace_net_request_duration_seconds_count', { request: 'write' }), 10)
  for (const { name, type, help } of metrics.values()) {
    assert.ok(help.length > 0 && type !== undefined, name)
    assert.equal(type === 'counter', name.endsWith('_total'), name)
  }
})

test('statistics are shown to programs of this machine only, unless insecure is said', bounded, async (t) => {
  const careful = await serve({ tokens: { right: { name: 'ada' } } })
  t.after(() => careful.stop())
  await assert.rejects(careful.server.serveMetrics('0.0.0.0:0'), { code: 'NET_INVALID', message: /insecure/ })
  for (const wrong of ['9100', 'localhost', 'http://127.0.0.1:9100', '127.0.0.1:70000', '']) {
    await assert.rejects(careful.server.serveMetrics(wrong), { code: 'NET_INVALID' }, wrong)
  }

  const open = await serve({ insecure: true })
  t.after(() => open.stop())
  const base = await open.server.serveMetrics('0.0.0.0:0')
  const { port } = new URL(base)
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200)
})

test('the listener of statistics answers nothing else, and closes with the server', bounded, async () => {
  const served = await serve()
  const base = await served.server.serveMetrics('127.0.0.1:0')
  assert.equal((await fetch(`${base}/`)).status, 404)
  assert.equal((await fetch(`${base}/metrics`, { method: 'POST', body: 'x' })).status, 405)
  assert.equal((await fetch(`${base}/metrics`, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(`${base}/metrics?x=1`)).status, 200)
  await served.stop()
  await assert.rejects(fetch(`${base}/metrics`))
})

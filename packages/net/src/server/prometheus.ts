/** Statistics in the text format of Prometheus, version 0.0.4. */

import type { ServerStatistics } from './statistics.js'

/** The type of the text, as HTTP names it. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Sample = readonly [suffix: string, labels: Readonly<Record<string, string>>, value: number]

/** The statistics as lines of text. */
export function prometheusText(statistics: ServerStatistics): string {
  const { open, requests } = statistics
  const byRequest = Object.entries(requests)
  return [
    metric('start_time_seconds', 'gauge', 'When the server was made, in seconds since 1970.', [
      ['', {}, Date.parse(statistics.since) / 1000]
    ]),
    metric('connections', 'gauge', 'Open connections.', [['', {}, open.connections]]),
    metric('sessions', 'gauge', 'Sessions, with and without a connection.', [['', {}, open.sessions]]),
    metric('iterators', 'gauge', 'Open iterators.', [['', {}, open.iterators]]),
    metric('snapshots', 'gauge', 'Open snapshots.', [['', {}, open.snapshots]]),
    metric('subscriptions', 'gauge', 'Open subscriptions, by the method that began them.', [
      ['', { method: 'watch' }, open.watches],
      ['', { method: 'changes' }, open.changes]
    ]),
    metric('accepted_connections_total', 'counter', 'Connections that were accepted.', [
      ['', {}, statistics.acceptedConnections]
    ]),
    metric(
      'refused_connections_total',
      'counter',
      'Connections that were refused or broken off, by the code of the error.',
      Object.entries(statistics.refusedConnections).map(([code, count]) => ['', { code }, count])
    ),
    metric('received_bytes_total', 'counter', 'Bytes of the protocol that came.', [
      ['', {}, statistics.receivedBytes]
    ]),
    metric('sent_bytes_total', 'counter', 'Bytes of the protocol that were sent.', [
      ['', {}, statistics.sentBytes]
    ]),
    metric('held_bytes', 'gauge', 'Bytes that are held for clients.', [['', {}, statistics.heldBytes]]),
    metric(
      'request_failures_total',
      'counter',
      'Requests that were answered with an error.',
      byRequest.map(([request, { failures }]) => ['', { request }, failures])
    ),
    metric(
      'request_duration_seconds',
      'histogram',
      'How long requests took, from when they were taken up to the answer.',
      byRequest.flatMap(([request, { count, latency }]): Sample[] => [
        ...latency.buckets.map(
          (bucket): Sample => ['_bucket', { request, le: String(bucket.seconds) }, bucket.count]
        ),
        ['_bucket', { request, le: '+Inf' }, count],
        ['_sum', { request }, latency.sumSeconds],
        ['_count', { request }, count]
      ])
    )
  ].join('')
}

function metric(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: Sample[]
): string {
  const full = `terrace_net_${name}`
  const lines = samples.map(([suffix, labels, value]) => `${full}${suffix}${labelsOf(labels)} ${value}\n`)
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

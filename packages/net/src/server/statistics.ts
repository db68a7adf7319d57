/**
 * Counts what a server does. Per request, this costs two readings of the clock, a few additions and no allocation. Everything else
 * is counted where it is kept, when the statistics are read.
 */

/** The upper bounds of the buckets of a latency histogram, in microseconds. One more bucket counts what took longer. */
export const BUCKET_MICROS = [
  50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
  2_500_000, 5_000_000, 10_000_000
] as const

/** Statistics of the requests of one kind. */
export interface RequestStatistics {
  /** The number of requests that were answered, including failures. */
  readonly count: number
  /** The number of requests that were answered with an error. */
  readonly failures: number
  /** How long requests took, from when the server accepted them to when it answered them. */
  readonly latency: {
    /** The sum of all times, in seconds. */
    readonly sumSeconds: number
    /** For each bound, how many requests took at most that long. Requests beyond the last bound are only in `count`. */
    readonly buckets: ReadonlyArray<{ readonly seconds: number; readonly count: number }>
  }
}

/** The numbers of connections, sessions and the like that a server has open now. */
export interface OpenStatistics {
  readonly connections: number
  /** The number of sessions, including those whose clients are disconnected and may return. */
  readonly sessions: number
  readonly iterators: number
  readonly snapshots: number
  /** The number of subscriptions to writes, by `watch()`. */
  readonly watches: number
  /** The number of subscriptions to feeds, by `changes()`. */
  readonly changes: number
}

/** Statistics of a server: what it has done since it was created, and what is open now. */
export interface ServerStatistics {
  /** When the server was created, as an ISO 8601 date. */
  readonly since: string
  readonly open: OpenStatistics
  /** The number of connections that were accepted, including those that were refused later. */
  readonly acceptedConnections: number
  /** The number of connections that were refused or broken off, by the code of the error. */
  readonly refusedConnections: Readonly<Record<string, number>>
  /** The number of bytes of the protocol that were received. The overhead of TLS and WebSocket is not counted. */
  readonly receivedBytes: number
  readonly sentBytes: number
  /**
   * The number of bytes that the server holds for its clients now: messages that are being received, requests, unsent results,
   * events and everything else that the limits `sessionBytes`, `userBytes` and `serverBytes` restrict.
   */
  readonly heldBytes: number
  /** Statistics of requests, by name: `get`, `getMany`, `write` and so on. */
  readonly requests: Readonly<Record<string, RequestStatistics>>
}

export class Statistics {
  readonly #since = new Date()
  readonly #startedAt = performance.now()
  /** Counters, by the kind of the request. */
  readonly #requests: RequestCounter[] = []
  readonly #refused = new Map<string, number>()
  acceptedConnections = 0
  /** Bytes of closed connections. */
  receivedBytes = 0
  sentBytes = 0

  /** @param requests - The kinds of requests, with their names. */
  constructor(requests: ReadonlyMap<number, { readonly name: string }>) {
    for (const [kind, { name }] of requests) this.#requests[kind] = new RequestCounter(name)
  }

  /** The time in microseconds, as a 32-bit integer that wraps around: V8 stores that without an allocation. */
  now(): number {
    return ((performance.now() - this.#startedAt) * 1000) | 0
  }

  /** Counts an answered request. One that took more than 71 minutes counts as a shorter one. */
  answered(kind: number, startedAt: number, isFailure: boolean): void {
    const micros = (this.now() - startedAt) >>> 0
    ;(this.#requests[kind] as RequestCounter).add(micros, isFailure)
  }

  refused(code: string): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1)
  }

  /**
   * @param open - What is open now.
   * @param heldBytes - What is held for clients now.
   */
  read(open: OpenStatistics, heldBytes: number): ServerStatistics {
    return {
      since: this.#since.toISOString(),
      open,
      acceptedConnections: this.acceptedConnections,
      refusedConnections: Object.fromEntries(this.#refused),
      receivedBytes: this.receivedBytes,
      sentBytes: this.sentBytes,
      heldBytes,
      requests: Object.fromEntries(Object.values(this.#requests).map((each) => [each.name, each.read()]))
    }
  }
}

class RequestCounter {
  readonly name: string
  readonly #buckets = new Float64Array(BUCKET_MICROS.length + 1)
  #failures = 0
  #sumMicros = 0

  constructor(name: string) {
    this.name = name
  }

  add(micros: number, isFailure: boolean): void {
    let bucket = 0
    while (bucket < BUCKET_MICROS.length && micros > (BUCKET_MICROS[bucket] as number)) bucket++
    ;(this.#buckets[bucket] as number)++
    this.#sumMicros += micros
    if (isFailure) this.#failures++
  }

  read(): RequestStatistics {
    let count = 0
    const buckets = BUCKET_MICROS.map((micros, bucket) => {
      count += this.#buckets[bucket] as number
      return { seconds: micros / 1e6, count }
    })
    return {
      count: count + (this.#buckets[BUCKET_MICROS.length] as number),
      failures: this.#failures,
      latency: { sumSeconds: this.#sumMicros / 1e6, buckets }
    }
  }
}

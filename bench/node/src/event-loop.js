/**
 * Measures how long the event loop was blocked, as Node does: by the time between ticks of a timer that should tick every
 * millisecond.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

const NANOS_PER_MILLI = 1e6
const BUCKETS_PER_DECADE = 10
const MIN_BUCKET_MILLIS = 0.1

/**
 * @typedef {object} Delays in milliseconds; an idle loop has 1.1, the timer's period
 * @property {number} count ticks of the timer
 * @property {number} min
 * @property {number} p50
 * @property {number} p99
 * @property {number} max
 */

/** @typedef {{ from: number, to: number, count: number }} Bucket delays from `from` to below `to` milliseconds */

export class EventLoopMonitor {
  #histogram = monitorEventLoopDelay({ resolution: 1 })

  static async start() {
    const monitor = new EventLoopMonitor()
    monitor.#histogram.enable()
    // Delays count from the first tick on.
    await setTimeout(5)
    monitor.#histogram.reset()
    await setTimeout(5)
    return monitor
  }

  async stop() {
    // The last delay ends with the next tick.
    await setTimeout(5)
    this.#histogram.disable()
  }

  /** @returns {Delays} */
  get delays() {
    const { count, min, max } = this.#histogram
    /** @param {number} percent */
    const percentile = (percent) => this.#histogram.percentile(percent) / NANOS_PER_MILLI
    return {
      count,
      min: round(min / NANOS_PER_MILLI),
      p50: round(percentile(50)),
      p99: round(percentile(99)),
      max: round(max / NANOS_PER_MILLI)
    }
  }

  /**
   * The number of delays in each bucket, ten buckets to a decade, without empty ones at the ends. The first also counts shorter
   * delays.
   */
  get buckets() {
    const { count, max } = this.#histogram
    /** @type {Bucket[]} */
    const buckets = []
    let below = 0
    for (let i = 0; bound(i) * NANOS_PER_MILLI <= max; i++) {
      const upTo = Math.round(this.#shareBelow(bound(i + 1) * NANOS_PER_MILLI) * count)
      if (upTo > below || buckets.length > 0) {
        buckets.push({ from: round(bound(i)), to: round(bound(i + 1)), count: upTo - below })
      }
      below = upTo
    }
    return buckets
  }

  /**
   * The share of delays below `nanos`. Node tells percentiles, so this finds the percentile.
   * @param {number} nanos
   */
  #shareBelow(nanos) {
    if (nanos > this.#histogram.max) return 1
    let [low, high] = [0, 100]
    while (high - low > 1e-5) {
      const middle = (low + high) / 2
      if (this.#histogram.percentile(middle) < nanos) low = middle
      else high = middle
    }
    return low / 100
  }
}

/** @param {number} index */
function bound(index) {
  return MIN_BUCKET_MILLIS * 10 ** (index / BUCKETS_PER_DECADE)
}

/** @param {number} millis */
function round(millis) {
  return Math.round(millis * 1000) / 1000
}

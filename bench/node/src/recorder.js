/** Measures lines: named pieces of work, each with its time, its operations and the delays of the event loop. */

import { EventLoopMonitor } from './event-loop.js'

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {number} ops
 * @property {number} seconds
 * @property {number} microsPerOp
 * @property {import('./event-loop.js').Delays} eventLoop
 */

/** A watch that can be stopped while the next piece of work is prepared. */
export class Stopwatch {
  #seconds = 0
  #started = 0

  start() {
    this.#started = performance.now()
  }

  stop() {
    this.#seconds += (performance.now() - this.#started) / 1000
  }

  get seconds() {
    return this.#seconds
  }
}

export class Recorder {
  /** @type {Line[]} */
  lines = []
  #peakHeapBytes = 0
  /** The size of all databases that were closed, when they were closed. */
  fileBytes = 0
  #startRssBytes = process.memoryUsage.rss()

  /**
   * Runs `work`, which starts and stops the watch and returns the number of its operations.
   * @param {string} name
   * @param {(watch: Stopwatch, monitor: EventLoopMonitor) => Promise<number>} work
   */
  async record(name, work) {
    globalThis.gc?.()
    const monitor = await EventLoopMonitor.start()
    const watch = new Stopwatch()
    const ops = await work(watch, monitor)
    await monitor.stop()
    this.sampleHeap()
    const { seconds } = watch
    this.lines.push({ name, ops, seconds, microsPerOp: (seconds * 1e6) / ops, eventLoop: monitor.delays })
  }

  /** @param {number} fileBytes of a database that was closed */
  addFileBytes(fileBytes) {
    this.fileBytes += fileBytes
  }

  /** Called at the end of each piece of work, because V8 does not remember how large the heap was. */
  sampleHeap() {
    this.#peakHeapBytes = Math.max(this.#peakHeapBytes, process.memoryUsage().heapUsed)
  }

  get memory() {
    return {
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
      startRssBytes: this.#startRssBytes,
      peakHeapBytes: this.#peakHeapBytes
    }
  }
}

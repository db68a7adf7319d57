import { setImmediate as turn } from 'node:timers/promises'

const REPORT_EVERY_MS = 500

/**
 * Clients that work without pause for some seconds. After each operation a client continues in the next turn of the event
 * loop,
 * when the next request of a real client would come. Otherwise a database whose promises settle at once would keep the loop
 * from turning at all.
 * @param {import('./context.js').Context} context
 * @param {string} name of what is recorded
 * @param {() => unknown} operate
 * @param {() => number} count returns how many operations were done
 * @returns {Promise<import('./event-loop.js').Bucket[]>} how long the event loop was blocked
 */
export async function runClients(context, name, operate, count) {
  const { concurrency, seconds, yieldTurns } = context.settings
  /** @type {import('./event-loop.js').Bucket[]} */
  let buckets = []

  await context.recorder.record(name, async (watch, monitor) => {
    const end = performance.now() + seconds * 1000
    let reported = performance.now()

    async function client() {
      for (let now = performance.now(); now < end; now = performance.now()) {
        await operate()
        if (yieldTurns) await turn()
        if (now - reported > REPORT_EVERY_MS) {
          reported = now
          context.progress(1 - (end - now) / (seconds * 1000))
        }
      }
    }

    watch.start()
    await Promise.all(Array.from({ length: concurrency }, client))
    watch.stop()
    await monitor.stop()
    buckets = monitor.buckets
    return count()
  })

  return buckets
}

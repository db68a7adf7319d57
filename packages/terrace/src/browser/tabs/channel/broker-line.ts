/**
 * Connects to the broker, and starts one if there is none.
 *
 * @param onFailure - Called if it turns out that it cannot be started, as under a Content Security Policy that forbids it.
 * @param ended - Aborted when the callback is no longer wanted: the browser keeps the shared worker, and with it the callback, for
 *   as long as the page.
 * @returns The port to it; undefined where the browser has no shared workers.
 */
export function openBrokerLine(onFailure: () => void, ended: AbortSignal): MessagePort | undefined {
  if (typeof SharedWorker === 'undefined') return undefined
  try {
    // Bundlers recognize this form, and need the options to be constants.
    const broker = new SharedWorker(new URL('./terrace-broker.js', import.meta.url), {
      type: 'module',
      name: 'terrace'
    })
    broker.onerror = onFailure
    ended.addEventListener(
      'abort',
      () => {
        broker.onerror = null
      },
      { once: true }
    )
    return broker.port
  } catch {
    return undefined
  }
}

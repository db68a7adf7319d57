/**
 * Connects to the broker, and starts one if there is none.
 *
 * @param onFailure - Called if it cannot be started after all, as under a Content Security Policy that forbids it.
 * @param ended - When nobody wants to hear of that any more: the browser keeps the shared worker, and with it the callback, for as long as the page.
 * @returns The port to it; undefined where the browser has no shared workers.
 */
export function openBrokerLine(onFailure: () => void, ended: AbortSignal): MessagePort | undefined {
  if (typeof SharedWorker === 'undefined') return undefined
  try {
    // Bundlers know this form, and want the options to be constants.
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

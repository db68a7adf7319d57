/** How a page knows that its worker runs the script of this package. */

/** What a worker sends before anything else. */
export const GREETING = 'terrace-worker'

/** Sends it. To be called when the worker starts. */
export function greetPage(): void {
  ;(globalThis as unknown as Worker).postMessage(GREETING)
}

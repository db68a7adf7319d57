import type { FromWorker, ToWorker } from '../channel/messages.js'
import { DatabaseWorker, type OpenHosted } from './database-worker.js'

/** What TypeScript knows only of workers. */
interface WorkerScope {
  onmessage: (event: MessageEvent<ToWorker>) => void
  postMessage(message: FromWorker): void
}

/**
 * Makes a dedicated worker that of a leader. To be called when the worker starts, before the first await. The worker may be started long before
 * its tab leads, so what has to be loaded is best loaded then.
 *
 * @param openHosted - Opens a database for tabs. Tried again while it fails with LEVEL_LOCKED, for some seconds.
 */
export function serveTabs(openHosted: OpenHosted): void {
  const scope = globalThis as unknown as WorkerScope
  let worker: DatabaseWorker | undefined
  scope.onmessage = ({ data, ports }) => {
    switch (data.kind) {
      case 'open': {
        const { location, epoch, options } = data
        worker = new DatabaseWorker(
          location,
          epoch,
          (onLost) => openHosted(location, options, onLost),
          (message) => scope.postMessage(message)
        )
        break
      }
      case 'own':
        worker?.admit(data.tab, ports[0] as MessagePort, data.shared)
        break
      case 'line':
        worker?.takeLine(ports[0])
        break
      case 'close':
        void worker?.close()
    }
  }
}

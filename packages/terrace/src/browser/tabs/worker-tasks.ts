/** What is done for a database that need not be open, by a worker that ends with it: pages have no synchronous files. */

import type { RepairReport } from '../../repair-report.js'
import type { PlaceOptions } from '../level-options.js'
import type { ImportFile, ImportOptions, ImportSource } from '../transfer-options.js'
import { revive } from './channel/failure.js'
import type { OnProgress, Report, Task } from './channel/task-messages.js'
import { startWorker } from './start-worker.js'

/** As {@link Level.import}. */
export async function importInWorker(
  location: string,
  source: ImportSource,
  { overwrite, onProgress }: ImportOptions
): Promise<void> {
  // A directory can be sent, and files. What makes them one after another cannot.
  const files: ImportFile[] = []
  if (!('getFileHandle' in source)) for await (const file of source) files.push(file)
  const sent = 'getFileHandle' in source ? source : files
  return runTask('import', [location, sent, overwrite === true], onProgress)
}

/** As {@link Level.destroy}. */
export function destroyInWorker(location: string, options: PlaceOptions): Promise<void> {
  return runTask('destroy', [location, options])
}

/** As {@link Level.repair}. */
export function repairInWorker(location: string, options: PlaceOptions): Promise<RepairReport> {
  return runTask('repair', [location, options])
}

async function runTask<T>(name: Task['name'], args: readonly unknown[], onProgress?: OnProgress): Promise<T> {
  const worker = startWorker()
  try {
    return await new Promise<T>((resolve, reject) => {
      worker.onmessage = ({ data: { progress, failure, result } }: MessageEvent<Report>) => {
        if (progress !== undefined) onProgress?.(progress)
        else if (failure !== undefined) reject(revive(failure))
        else resolve(result as T)
      }
      worker.onFailure = reject
      worker.postMessage({ kind: 'task', name, args } satisfies Task)
    })
  } finally {
    worker.terminate()
  }
}

/** What is done for a database that need not be open, by a worker that ends with it: pages have no synchronous files. */

import { importDatabase } from '../import-database.js'
import { loadStore } from '../module.js'
import { destroyFirst } from '../storage.js'
import type { PlaceOptions } from '../store-options.js'
import type { ImportFile, ImportOptions, ImportSource, TransferProgress } from '../transfer-options.js'
import { describe, type Failure, revive } from './failure.js'
import { cannotStart } from './leadership.js'
import { startWorker } from './start-worker.js'

type OnProgress = (progress: TransferProgress) => void

const tasks = {
  import: (onProgress: OnProgress, location: string, source: ImportSource, overwrite: boolean) =>
    importDatabase(location, loadStore, source, { overwrite, onProgress }),
  destroy: (_: OnProgress, location: string, options: PlaceOptions) => destroyFirst(location, options)
}

/** What a page asks for. */
interface Task {
  readonly kind: 'task'
  readonly name: keyof typeof tasks
  readonly args: readonly unknown[]
}

/** What the worker answers: how far it is, or the end. */
interface Report {
  readonly progress?: TransferProgress
  readonly failure?: Failure
}

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

async function runTask(
  name: keyof typeof tasks,
  args: readonly unknown[],
  onProgress?: OnProgress
): Promise<void> {
  const worker = startWorker() as Worker
  try {
    await new Promise<void>((resolve, reject) => {
      worker.onmessage = ({ data: { progress, failure } }: MessageEvent<Report>) => {
        if (progress !== undefined) onProgress?.(progress)
        else if (failure !== undefined) reject(revive(failure))
        else resolve()
      }
      worker.onerror = (event) => reject(cannotStart(event))
      worker.postMessage({ kind: 'task', name, args } satisfies Task)
    })
  } finally {
    worker.terminate()
  }
}

/** Makes a dedicated worker do tasks. To be called when it starts, before the first await. */
export function serveTasks(): void {
  const report = (report: Report): void => (globalThis as unknown as Worker).postMessage(report)
  addEventListener('message', ({ data }: MessageEvent<Task>) => {
    if (data.kind !== 'task') return
    const run = tasks[data.name] as (onProgress: OnProgress, ...args: readonly unknown[]) => Promise<void>
    run((progress) => report({ progress }), ...data.args).then(
      () => report({}),
      (error) => report({ failure: describe(error) })
    )
  })
}

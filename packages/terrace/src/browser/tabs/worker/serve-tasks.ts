/** Tasks of a worker that has no database open for tabs. */

import type { PlaceOptions } from '../../level-options.js'
import { loadStore } from '../../load-modules.js'
import { importDatabase } from '../../opfs/import-database.js'
import { destroyFirst, repairFirst } from '../../storage.js'
import type { ImportSource } from '../../transfer-options.js'
import { describe } from '../channel/failure.js'
import type { OnProgress, Report, Task } from '../channel/task-messages.js'
import { whenUnlocked } from './when-unlocked.js'

const tasks = {
  import: (onProgress: OnProgress, location: string, source: ImportSource, overwrite: boolean) =>
    importDatabase(location, loadStore, source, { overwrite, onProgress }),
  destroy: (_: OnProgress, location: string, options: PlaceOptions) =>
    whenUnlocked(() => destroyFirst(location, options)),
  repair: (_: OnProgress, location: string, options: PlaceOptions) =>
    whenUnlocked(() => repairFirst(location, options))
}

/** Makes a dedicated worker do tasks. To be called when it starts, before the first await. */
export function serveTasks(): void {
  const report = (report: Report): void => (globalThis as unknown as Worker).postMessage(report)
  addEventListener('message', ({ data }: MessageEvent<Task>) => {
    if (data.kind !== 'task') return
    const run = tasks[data.name] as (onProgress: OnProgress, ...args: readonly unknown[]) => Promise<unknown>
    run((progress) => report({ progress }), ...data.args).then(
      (result) => report({ result }),
      (error) => report({ failure: describe(error) })
    )
  })
}

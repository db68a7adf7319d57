import type { WorkerHandle } from './leadership.js'

/** Starts the worker of a leader. Bundlers know this form, and bring the script along. */
export const startWorker = (): WorkerHandle =>
  new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })

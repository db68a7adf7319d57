/** What a page and a worker say to each other of a task. */

import type { TransferProgress } from '../../transfer-options.js'
import type { Failure } from './failure.js'

/** What a page asks for. */
export interface Task {
  readonly kind: 'task'
  readonly name: 'import' | 'destroy' | 'repair'
  readonly args: readonly unknown[]
}

/** What the worker answers: how far it is, or the end. */
export interface Report {
  readonly progress?: TransferProgress
  readonly failure?: Failure
  /** What the task returns. */
  readonly result?: unknown
}

export type OnProgress = (progress: TransferProgress) => void

import { codedError, type ToolboxError } from './errors.js'
import { rootOf } from './hooks.js'
import type { AnyLevel } from './level-like.js'

/** Root databases whose opening is being checked. */
const watched = new WeakSet<AnyLevel>()

/**
 * Ensures that all writes to a database go through one object. A part of the toolbox learns of writes from the hooks of
 * that object. Another instance of the same database, in this thread or in a worker, has separate hooks, and the two share
 * nothing in JavaScript.
 *
 * @param part - The part that requires this, for the message.
 * @throws TOOLBOX_SHARED if other processes write to the database as well: it is opened with `shared`, or a server's.
 * @throws TOOLBOX_MULTITHREADING if the database is, or will be, opened with `multithreading`. If that only becomes known
 *   when the database opens, the opening is refused: `open()` rejects with LEVEL_HOOK_ERROR, whose cause is this error.
 */
export function assertOnlyInstance(db: AnyLevel, part: string): void {
  const root = rootOf(db)
  // Terrace and terrace-net report this themselves.
  if ((root as { multithreading?: boolean }).multithreading === true) throw multithreadingError(part)
  if ((root.supports as { everyWrite?: boolean } | undefined)?.everyWrite === false) throw sharedError(part)

  if (watched.has(root) || root.hooks?.postopen === undefined) return
  watched.add(root)
  root.hooks.postopen.add(async (options: { multithreading?: unknown } & object) => {
    if (options.multithreading === true) throw multithreadingError(part)
  })
}

function sharedError(part: string): ToolboxError {
  return codedError(
    'TOOLBOX_SHARED',
    `${part} must see every write, and other processes may write to this database: open it without 'shared', and use it in the ` +
      'one process that serves it to the others'
  )
}

function multithreadingError(part: string): ToolboxError {
  return codedError(
    'TOOLBOX_MULTITHREADING',
    `${part} must see every write, and other instances may write to a database that is opened with 'multithreading': ` +
      "open it once, without the option 'multithreading', and let other threads send their writes there"
  )
}

import { codedError, type ToolboxError } from './errors.js'
import { rootOf } from './hooks.js'
import type { AnyLevel } from './level-like.js'

/** Roots whose opening is looked at. */
const watched = new WeakSet<AnyLevel>()

/**
 * Sees to it that all writes of a database come through one object. What a part knows of writes it has from the hooks of that
 * object; another instance of the same database, in this thread or in a worker, has hooks of its own, and nothing in JavaScript
 * is common to both.
 *
 * @param part - What needs it, for the message.
 * @throws TOOLBOX_MULTITHREADING if the database is, or is to be, opened with `multithreading`. Where only its opening tells,
 * that is refused: `open()` rejects with LEVEL_HOOK_ERROR, whose cause this is.
 */
export function assertOnlyInstance(db: AnyLevel, part: string): void {
  const root = rootOf(db)
  // Terrace tells.
  if ((root as { multithreading?: boolean }).multithreading === true) throw multithreadingError(part)

  if (watched.has(root) || root.hooks?.postopen === undefined) return
  watched.add(root)
  root.hooks.postopen.add(async (options: { multithreading?: unknown } & object) => {
    if (options.multithreading === true) throw multithreadingError(part)
  })
}

function multithreadingError(part: string): ToolboxError {
  return codedError(
    'TOOLBOX_MULTITHREADING',
    `${part} must see every write, and other instances may write to a database that is opened with 'multithreading': ` +
      "open it once, without the option 'multithreading', and let other threads send their writes there"
  )
}

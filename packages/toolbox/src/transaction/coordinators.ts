import type { AnyLevel } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { ConditionalCommits } from './conditional-commits.js'
import type { Coordinator } from './coordinator.js'
import { ObservedCommits } from './observed-commits.js'

const coordinators = new WeakMap<AnyLevel, Coordinator>()

/**
 * The coordinator of a root database.
 *
 * @throws TOOLBOX_SHARED or TOOLBOX_MULTITHREADING if others may write to it unseen, and it has no conditional writes.
 */
export function coordinatorOf(root: AnyLevel): Coordinator {
  let coordinator = coordinators.get(root)

  if (coordinator === undefined) {
    coordinator = mayHaveOtherWriters(root) ? new ConditionalCommits(root) : observed(root)
    coordinators.set(root, coordinator)
  }

  return coordinator
}

function observed(root: AnyLevel): ObservedCommits {
  assertOnlyInstance(root, 'transactions()')
  return new ObservedCommits(root)
}

/** Whether a database has conditional writes, and writers whose writes its hooks do not see. */
function mayHaveOtherWriters(root: AnyLevel): boolean {
  const { conditionalWrites, everyWrite } = root.supports as {
    conditionalWrites?: boolean
    everyWrite?: boolean
  }
  const { multithreading } = root as { multithreading?: boolean }
  return conditionalWrites === true && (everyWrite === false || multithreading === true)
}

/** What functions with `everyWrite` ask for before they run, on a database that cannot read within a call. */

import type { Database } from '../level/database.js'
import type { Store } from '../level/store.js'
import { spacesAround } from '../sublevel/namespace.js'
import type { HookedOperation } from '../write/hooked-operation.js'
import type { Ask } from './hook-reads.js'

/**
 * The asks of the functions that will see an operation.
 *
 * @param target - The object that the operation is on.
 * @param make - Makes the operation. It is called only if a function asks for anything.
 */
export function asksFor(store: Store, target: Database, make: () => HookedOperation): Ask[] {
  const asks: Ask[] = []

  for (const { prefix, functions } of spacesAround(store, target)) {
    for (const { prepare, owner } of functions) {
      if (prepare === undefined) continue
      asks.push(() => {
        const hooked = make()
        prepare((prefix === hooked.prefix ? hooked : hooked.inTermsOf(owner)).saved())
      })
    }
  }

  return asks
}

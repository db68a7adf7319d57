/** Permissions without writes. */

import type { Grant, Permissions, Right } from '../server/permissions.js'

const kept: readonly Right[] = ['read', 'watch']

/** Allows reading and watching everything, and nothing else. */
export const readingOnly: Permissions = { keys: [{ allow: kept }] }

/** Removes writes, `clear()` and methods from permissions. */
export function withoutWrites({ keys }: Permissions): Permissions {
  return keys === 'all' ? readingOnly : { keys: keys.map((grant) => ({ ...grant, allow: keptOf(grant) })) }
}

function keptOf({ allow }: Grant): readonly Right[] {
  const allowed: readonly unknown[] = Array.isArray(allow) ? allow : [allow]
  return allowed.includes('all') ? kept : kept.filter((right) => allowed.includes(right))
}

/** Permissions without writes. */

import type { Grant, Permissions, Right } from '../server/permissions.js'

const kept: readonly Right[] = ['read', 'watch']

/** May read and watch everything, and nothing else. */
export const readingOnly: Permissions = { keys: [{ allow: kept }] }

/** What is left of permissions without writes, `clear()` and methods. */
export function withoutWrites({ keys }: Permissions): Permissions {
  return keys === 'all' ? readingOnly : { keys: keys.map((grant) => ({ ...grant, allow: keptOf(grant) })) }
}

function keptOf({ allow }: Grant): readonly Right[] {
  const allowed: readonly unknown[] = Array.isArray(allow) ? allow : [allow]
  return allowed.includes('all') ? kept : kept.filter((right) => allowed.includes(right))
}

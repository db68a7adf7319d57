/** The groups of keys below a node, found by seeks from each group to the next: the entries within are not read. */

import { commonLength } from '../bytes.js'
import { escaped } from '../escape.js'
import { firstKeys } from './scan.js'

/** Groups that one call finds. */
const MOST_GROUPS = 200

/** Keys that belong to no group before all such keys are put into groups by their next character. */
const MOST_LOOSE_KEYS = 50

/**
 * Finds the groups below `node` (`{}` is the whole database).
 *
 * @param from - Where to go on, from an earlier call.
 * @returns `groups`, and `from` if there are more.
 */
export async function groupsBelow(db, layout, node, from) {
  const range = { lower: node.lower, upper: node.upper }
  const [first] = await firstKeys(db, range, 1)
  if (first === undefined) return { groups: [] }
  const [last] = await firstKeys(db, range, 1, true)
  const grouping = layout.grouping(node, first, last)
  if (from?.buckets !== true) {
    const found = await listGroups(db, node, grouping, from?.key, false)
    if (found !== undefined) return found
  }
  return listGroups(db, node, grouping, from?.key, true)
}

/** Returns undefined if there are too many keys without a group. */
async function listGroups(db, node, grouping, start, buckets) {
  const groups = []
  let looseKeys = 0
  let lower = start ?? node.lower
  while (true) {
    const [key, second] = await firstKeys(db, { lower, upper: node.upper }, 2)
    if (key === undefined) return { groups }
    if (groups.length === MOST_GROUPS) return { groups, from: { key, buckets } }
    const group = grouping.groupOf(key) ?? (buckets ? grouping.bucketOf?.(key) : undefined)
    if (group === undefined) {
      looseKeys++
      if (looseKeys > MOST_LOOSE_KEYS && grouping.bucketOf !== undefined) return undefined
      if (second === undefined) return { groups }
      // Without buckets, a node of many such keys has no groups.
      if (looseKeys > MOST_LOOSE_KEYS) return { groups }
      lower = second
      continue
    }
    const range = { lower: group.lower, upper: group.upper }
    const [, another] = await firstKeys(db, range, 2)
    if (!group.isBucket) groups.push({ ...group, hasMore: another !== undefined })
    // A bucket of one key is none. Another is called by all that its keys have in common.
    else if (another !== undefined) {
      const [last] = await firstKeys(db, range, 1, true)
      const label = escaped(key.subarray(group.shown, commonLength(key, last)))
      groups.push({ ...group, label, hasMore: true })
    }
    if (group.upper === undefined) return { groups }
    lower = group.upper
  }
}

/** Adds the names that are stored for groups to their labels. */
export async function nameGroups(db, layout, groups) {
  for (const group of groups) {
    if (group.nameAt === undefined) continue
    const value = await db.get(group.nameAt)
    const name = value === undefined ? undefined : layout.nameOf(value)
    if (name !== undefined) group.name = name
  }
  return groups
}

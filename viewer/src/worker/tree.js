/** The groups of keys below a node, found by seeks from each group to the next: the entries within are not read. */

import { commonLength } from '../bytes.js'
import { escaped } from '../escape.js'
import { firstKeys } from './scan.js'

/** Groups that one call finds. Where there are more, keys are put into groups by their next character, if the layout allows it. */
const MOST_GROUPS = 200

/** The same, for keys that belong to no group, or are alone in theirs. */
const MOST_LOOSE_KEYS = 50

/** A layout without such groups skips this many keys that belong to none. */
const MOST_SKIPPED_KEYS = 1000

/**
 * Finds the groups below `node` (`{}` is the whole database).
 *
 * @param from - Where to continue, from an earlier call.
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

/** Returns undefined if there are too many groups, or keys without one, and buckets are better. */
async function listGroups(db, node, grouping, start, buckets) {
  const groups = []
  const groupOf = (key) => (buckets ? grouping.bucketOf(key) : grouping.groupOf(key))
  const mayBeBuckets = !buckets && grouping.bucketOf !== undefined
  let [looseKeys, lonelyKeys] = [0, 0]
  let lower = start ?? node.lower
  while (true) {
    const [key, second] = await firstKeys(db, { lower, upper: node.upper }, 2)
    if (key === undefined) return { groups }
    if (mayBeBuckets && (groups.length === MOST_GROUPS || looseKeys + lonelyKeys > MOST_LOOSE_KEYS))
      return undefined
    if (groups.length === MOST_GROUPS) return { groups, from: { key, buckets } }
    const group = groupOf(key)
    if (group === undefined) {
      looseKeys++
      if (second === undefined || looseKeys > MOST_SKIPPED_KEYS) return { groups }
      lower = second
      continue
    }
    const whole = await wholeGroup(db, group, key)
    if (!whole.hasMore) lonelyKeys++
    if (whole.hasMore || !group.isBucket) groups.push(whole)
    if (group.upper === undefined) return { groups }
    lower = group.upper
  }
}

/** A group with what only its keys reveal: `hasMore` if there are several. A bucket is named after their common prefix. */
async function wholeGroup(db, group, key) {
  const range = { lower: group.lower, upper: group.upper }
  const [, another] = await firstKeys(db, range, 2)
  const hasMore = another !== undefined
  if (!group.isBucket || !hasMore) return { ...group, hasMore }
  const [last] = await firstKeys(db, range, 1, true)
  return { ...group, hasMore, label: escaped(key.subarray(group.shown, commonLength(key, last))) }
}

/** Adds the names that are stored for groups. */
export async function nameGroups(db, layout, groups) {
  if (layout.nameOf === undefined) return
  for (const group of groups) group.name = await layout.nameOf(db, group)
}

// What a history of writes must leave: each call takes effect as a whole, in the order of the calls. Only a `clear()` that has
// failed may have deleted its keys before: it reads on after each batch of deletions, and that may fail.

import assert from 'node:assert/strict'
import { FAILURE } from './array-backend.js'
import { ownKey } from './histories.js'

/** The entries that the database may have after these calls, sorted by key: one list for each way that failed clears may have gone. */
export function* outcomes(calls, hooks) {
  const failed = calls.filter(({ range, ending }) => range !== undefined && ending === FAILURE)
  for (let ways = 0; ways < 2 ** failed.length; ways++) {
    yield replay(calls, hooks, new Set(failed.filter((_, index) => (ways >> index) & 1)))
  }
}

/**
 * The entries of the database after these calls, sorted by key.
 *
 * @param calls - `{ via, operations, ending }`, or `range` instead of operations for `clear()`. `ending` is `done` or the code
 *   of the error that the call ended with. If the value is at fault, `refusal` has that code.
 * @param hooks - The functions that exist: of `db`, of `a`, and the one that keeps the `index` of `a`.
 * @param doneBefore - Calls that had taken effect when they failed.
 */
function replay(calls, hooks, doneBefore) {
  let entries = new Map()

  for (const call of calls) {
    assert.ok(call.ending !== undefined, `${call.name} has not ended`)
    // Called after close(), so it may have been done or not.
    if (call.ending.endsWith('_NOT_OPEN')) continue
    // The back-end has failed, so nothing of the call is stored.
    if (call.ending === FAILURE && !doneBefore.has(call)) continue

    const after = new Map(entries)
    const expected = apply(call, hooks, after)
    const ending = doneBefore.has(call) ? 'done' : call.ending
    assert.equal(ending, expected, `${call.via} ${call.name} ${JSON.stringify(call.operations)}`)
    if (expected === 'done') entries = after
  }

  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
}

const prefixes = { db: '', a: '!a!', b: '!b!', index: '!index!' }

/** Applies a call. Returns how it must end. */
function apply({ via, operations, range, refusal }, hooks, entries) {
  if (refusal !== undefined) return refusal
  if (range !== undefined) {
    clear(prefixes[via], range.gte ?? '', hooks, entries)
    return 'done'
  }

  let list = []
  for (const { sublevel = via, type, key, value } of operations) {
    if (key === null) return 'LEVEL_INVALID_KEY'
    const operation = { space: sublevel, type, key, value }
    if (hooks[via] && isRefused(operation)) return 'LEVEL_HOOK_ERROR'
    list.push(operation)
  }

  for (const object of via === 'db' ? ['db'] : [via, 'db']) {
    if (!hooks[object]) continue
    if (list.some(isRefused)) return 'LEVEL_HOOK_ERROR'
    const added = list.filter(({ type, key }) => type === 'put' && ownKey(key).startsWith('add'))
    list = list.concat(
      added.map(({ key, value }) => ({
        space: object,
        type: 'put',
        key: `by ${object} ${ownKey(key)}`,
        value
      }))
    )
  }

  for (const operation of list) {
    if (!write(operation, hooks, entries)) return 'LEVEL_HOOK_ERROR'
  }
  return 'done'
}

function isRefused({ type, key }) {
  return type === 'put' && ownKey(key).startsWith('refused')
}

/** One operation, with what the index makes of it. Returns whether the index takes it. */
function write({ space, type, key, value }, hooks, entries) {
  const rootKey = prefixes[space] + key
  if (space === 'a' && hooks.index) {
    if (type === 'put' && key.startsWith('unindexed')) return false
    if (entries.has(rootKey)) entries.delete(`${prefixes.index}${entries.get(rootKey)} ${key}`)
    if (type === 'put') entries.set(`${prefixes.index}${value} ${key}`, '')
  }

  if (type === 'put') entries.set(rootKey, value)
  else entries.delete(rootKey)
  return true
}

function clear(prefix, gte, hooks, entries) {
  for (const rootKey of [...entries.keys()]) {
    if (!rootKey.startsWith(prefix) || rootKey < prefix + gte) continue
    const space = Object.keys(prefixes).findLast((name) => rootKey.startsWith(prefixes[name]))
    write({ space, type: 'del', key: rootKey.slice(prefixes[space].length) }, hooks, entries)
  }
}

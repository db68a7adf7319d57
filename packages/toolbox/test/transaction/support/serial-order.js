// Finds out whether what happened is equivalent to one thing after another.

import { isDeepStrictEqual } from 'node:util'

/**
 * @typedef {{ type: 'put' | 'del', key: string, value?: string } | { type: 'change', key: string, change: (value: string | undefined) => string | undefined }} Write
 * @typedef {{ read: (state: Map<string, string>) => unknown, found: unknown }} Read What was read, and what was found.
 * @typedef {{ reads: Read[], writes: Write[] }} Event A transaction that was committed, or a plain write.
 */

/**
 * What each call has resolved with, in the order in which they did. It is nearly always a serial order, so the search that gets
 * the events in this order ends soon; in another one it may take minutes.
 *
 * @template T
 * @param {Promise<T>[]} calls
 * @returns {Promise<T[]>}
 */
export async function inOrderOfEnd(calls) {
  const ended = []
  await Promise.all(calls.map(async (call) => ended.push(await call)))
  return ended
}

/**
 * Finds an order of the events in which each reads what it found, and which leads from one state to the other. Undefined if
 * there is none.
 *
 * @param {Event[]} events
 * @param {Map<string, string>} before
 * @param {Map<string, string>} after
 */
export function serialOrder(events, before, after) {
  // If the same events are left with the same state, they need not be tried again.
  const tried = new Set()

  const search = (state, left) => {
    if (left.length === 0) return sameState(state, after) ? [] : undefined
    const position = `${left.join()} ${JSON.stringify(entriesOf(state))}`
    if (tried.has(position)) return undefined
    tried.add(position)

    for (const index of left) {
      const event = events[index]
      if (!event.reads.every(({ read, found }) => isDeepStrictEqual(read(state), found))) continue
      const rest = search(
        applied(state, event.writes),
        left.filter((other) => other !== index)
      )
      if (rest !== undefined) return [index, ...rest]
    }

    return undefined
  }

  return search(before, [...events.keys()])
}

/** The entries of a state in order. */
export function entriesOf(state) {
  return [...state].sort(([a], [b]) => (a < b ? -1 : 1))
}

function applied(state, writes) {
  const next = new Map(state)
  for (const { type, key, value, change } of writes) {
    const made = type === 'change' ? change(next.get(key)) : value
    if (type === 'del' || made === undefined) next.delete(key)
    else next.set(key, made)
  }
  return next
}

function sameState(a, b) {
  return isDeepStrictEqual(entriesOf(a), entriesOf(b))
}

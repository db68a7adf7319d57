/**
 * Turns of the event loop. Operations that are done within their call settle their promises at once, so that a loop
 * which awaits one after the other would never let timers and sockets have their turn. Once operations have followed each
 * other for {@link MAX_TURN_MS}, the promises of the next ones are therefore settled in the event loop's next turn.
 */

// The addon's promises are no instances of `Promise` where a program runs in a context of its own, as Jest's tests do.
import { isPromise } from 'node:util/types'

/** A delay that nobody notices, and long beside what a turn costs. */
const MAX_TURN_MS = 1

/** The clock is read once for so much work. */
const WORK_A_LOOK = 32

/** The work of an operation that reads or writes about a thousand entries. */
export const LARGE_WORK = WORK_A_LOOK

let work = 0
/** When the first operation of this turn was seen; undefined if none was. */
let began: number | undefined
let next: { promise: Promise<void>; resolve: () => void } | undefined
let immediate: NodeJS.Immediate

/**
 * Notes that an operation is being done. Returns a promise to wait for before its own is settled, if the event loop
 * should have its turn first.
 */
export function turn(weight = 1): Promise<void> | undefined {
  if (next !== undefined) return next.promise

  work += weight
  if (work < WORK_A_LOOK) return undefined
  work = 0

  const now = performance.now()

  if (began === undefined) {
    began = now
    // Only to note the turn: nothing that the process must stay alive for.
    immediate = setImmediate(endTurn).unref()
    return undefined
  }

  return now - began < MAX_TURN_MS ? undefined : waitForTurn()
}

/** `result`, unless the event loop should have its turn first. */
export function inTurn<T>(result: T | Promise<T>, work = 1): T | Promise<T> {
  const wait = turn(work)
  return wait === undefined || isPromise(result) ? result : wait.then(() => result)
}

function waitForTurn(): Promise<void> {
  immediate.ref()
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  next = { promise, resolve }
  return promise
}

function endTurn(): void {
  const waiting = next
  began = next = undefined
  waiting?.resolve()
}

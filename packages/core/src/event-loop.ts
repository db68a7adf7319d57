/**
 * Turns of the event loop. Operations that finish within their call settle their promises at once, so a loop that awaits one
 * after the other would never let timers and sockets have a turn. Once operations have followed each other for {@link
 * MAX_TURN_MS}, the promises of the next ones are therefore settled in the event loop's next turn.
 */

import { inNextTurn } from './next-turn.js'
import { isPromise } from './promise.js'

/** Too short to notice, and long compared with the cost of a turn. */
const MAX_TURN_MS = 1

/** How much work is done between two checks of the clock. */
const WORK_A_LOOK = 32

/** The work of an operation that reads or writes about a thousand entries. */
export const LARGE_WORK = WORK_A_LOOK

let work = 0
/** When the first operation of this turn was seen; undefined if there was none. */
let began: number | undefined
let next: { promise: Promise<void>; resolve: () => void } | undefined
let immediate: ReturnType<typeof inNextTurn>

/**
 * Records that an operation is being performed. If the event loop should get a turn before the operation's own promise settles,
 * returns a promise to wait for first. Back-ends whose promises settle without the event loop call this.
 */
export function yieldToEventLoop(weight = 1): Promise<void> | undefined {
  if (next !== undefined) return next.promise

  work += weight
  if (work < WORK_A_LOOK) return undefined
  work = 0

  const now = performance.now()

  if (began === undefined) {
    began = now
    // This only notes the end of the turn, so it must not keep the process alive.
    immediate = inNextTurn(endTurn)
    immediate.unref()
    return undefined
  }

  return now - began < MAX_TURN_MS ? undefined : waitForTurn()
}

/** Returns `result`, unless the event loop should get a turn first. */
export function afterYield<T>(result: T | Promise<T>, work = 1): T | Promise<T> {
  const wait = yieldToEventLoop(work)
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

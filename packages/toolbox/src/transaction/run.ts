import type { AnyLevel } from '../level-like.js'
import type { Conflict, Coordinator } from './coordinator.js'
import { conflictError, nestedError, throwIfAborted } from './errors.js'
import type { CheckedOptions } from './options.js'
import { backoffMs, pause } from './pause.js'
import { Attempt } from './transaction.js'
import { MAX_WAIT_MS, type Release } from './turns.js'

/** The function of a transaction. */
export type Body<T> = (attempt: Attempt) => T | Promise<T>

type Outcome<T> = { readonly conflict: Conflict } | { readonly conflict?: undefined; readonly result: T }

/**
 * Calls the function with an attempt, and commits it, until there is no conflict.
 *
 * @throws the errors that {@link Transactions} lists.
 */
export async function run<T>(
  coordinator: Coordinator,
  db: AnyLevel,
  body: Body<T>,
  options: CheckedOptions
): Promise<T> {
  const { retries, signal } = options
  if (coordinator.running.getStore()?.isOpen) throw nestedError()
  if (coordinator.root.status === 'opening') await coordinator.root.open({ passive: true })
  throwIfAborted(signal)

  let turn: Release | undefined

  for (let attempts = 1; ; attempts++) {
    const outcome = await attemptOnce(coordinator, new Attempt(coordinator, db, signal, turn), body, options)
    if (outcome.conflict === undefined) return outcome.result
    if (attempts > retries) throw conflictError(attempts)

    await waitAfter(outcome.conflict, attempts, signal)
    turn = await takeTurn(coordinator, outcome.conflict, signal)
  }
}

async function attemptOnce<T>(
  coordinator: Coordinator,
  attempt: Attempt,
  body: Body<T>,
  { signal, sync }: CheckedOptions
): Promise<Outcome<T>> {
  try {
    const called = await call(coordinator, attempt, body)
    if (called.conflict !== undefined) return called

    throwIfAborted(signal)
    const conflict = await coordinator.commit(attempt.reading, attempt.writes, sync)
    return conflict === undefined ? called : { conflict }
  } finally {
    await attempt.end()
  }
}

async function call<T>(coordinator: Coordinator, attempt: Attempt, body: Body<T>): Promise<Outcome<T>> {
  const scope = { isOpen: true }

  try {
    return { result: await coordinator.running.run(scope, body, attempt) }
  } catch (error) {
    // Without a snapshot, the function may have failed because it saw only a part of another change.
    const conflict = attempt.reading?.snapshot === undefined ? attempt.conflict() : undefined
    if (conflict === undefined) throw error
    return { conflict }
  } finally {
    scope.isOpen = false
    attempt.stop()
  }
}

/** Waits until the write that was in the way is done, and then for a random time. */
async function waitAfter(
  { settled }: Conflict,
  attempts: number,
  signal: AbortSignal | undefined
): Promise<void> {
  if (settled !== undefined) await pause(MAX_WAIT_MS, signal, settled)
  const milliseconds = backoffMs(attempts)
  if (milliseconds > 0) await pause(milliseconds, signal)
}

async function takeTurn(
  { turns }: Coordinator,
  { key }: Conflict,
  signal: AbortSignal | undefined
): Promise<Release | undefined> {
  if (key === undefined) return undefined
  const turn = await turns.take(key)

  if (signal?.aborted) turn()
  throwIfAborted(signal)
  return turn
}

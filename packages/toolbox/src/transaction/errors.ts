import { codedError, type ToolboxError } from '../errors.js'

/** The transaction was tried as often as `retries` allows, and others were faster each time. */
export function conflictError(attempts: number): ToolboxError {
  const times = attempts === 1 ? 'once' : `${attempts} times`
  return codedError(
    'TRANSACTION_CONFLICT',
    `Other writes kept changing what the transaction had read: it was tried ${times}`
  )
}

/** The transaction was used after its function had ended. */
export function endedError(): ToolboxError {
  return codedError('TRANSACTION_ENDED', 'The transaction has ended: use it only within its function')
}

/** A transaction was started within the function of another one on the same database. */
export function nestedError(): ToolboxError {
  return codedError(
    'TRANSACTION_NESTED',
    'A transaction of this database is already running here: use it, or start the other one after it has ended'
  )
}

/** An argument or option is not valid. */
export function argumentError(message: string): ToolboxError {
  return Object.assign(new TypeError(message), { code: 'TRANSACTION_INVALID_ARGUMENT' })
}

/** The signal in the options was aborted. This is abstract-level's error for that. */
export function abortError(signal: AbortSignal): ToolboxError {
  const error = codedError('LEVEL_ABORTED', 'Operation has been aborted', signal.reason)
  error.name = 'AbortError'
  return error
}

/** @throws LEVEL_ABORTED if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal)
}

import { codedError, type ToolboxError } from '../errors.js'

/** The transaction was called again as often as `retries` allows, and others were faster each time. */
export function conflictError(attempts: number): ToolboxError {
  const times = attempts === 1 ? 'once' : `${attempts} times`
  return codedError(
    'TRANSACTION_CONFLICT',
    `What the transaction had read was changed meanwhile: tried ${times}`
  )
}

/** A transaction was used after its function was done. */
export function endedError(): ToolboxError {
  return codedError('TRANSACTION_ENDED', 'The transaction has ended: use it only within its function')
}

/** A transaction was started within the function of another one on the same database. */
export function nestedError(): ToolboxError {
  return codedError(
    'TRANSACTION_NESTED',
    'A transaction of this database is running here: use it, or start the other one when it has ended'
  )
}

/** An argument or option is not what it must be. */
export function argumentError(message: string): ToolboxError {
  return Object.assign(new TypeError(message), { code: 'TRANSACTION_INVALID_ARGUMENT' })
}

/** The signal of the options was aborted: the error that abstract-level has for it. */
export function abortError(signal: AbortSignal): ToolboxError {
  const error = codedError('LEVEL_ABORTED', 'Operation has been aborted', signal.reason)
  error.name = 'AbortError'
  return error
}

/** @throws LEVEL_ABORTED if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal)
}

/** Errors as values of the structured clone, which would lose their codes. */

import { type CodedError, type ConflictError, codedError } from 'terrace-core'

export interface Failure {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
  readonly stack: string | undefined
  readonly cause: Failure | undefined
  /** Of a write: the indices of the conditions that do not hold. */
  readonly conditions?: readonly number[] | undefined
}

export function describe(error: unknown): Failure {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error), code: undefined, stack: undefined, cause: undefined }
  }
  const { name, message, stack, cause } = error
  const { code, conditions } = error as Partial<CodedError<string>> & Partial<ConflictError>
  // The code of a DOMException is a number that means nothing here.
  return {
    name,
    message,
    code: typeof code === 'string' ? code : undefined,
    stack,
    cause: cause === undefined ? undefined : describe(cause),
    conditions
  }
}

export function revive({ name, message, code, stack, cause, conditions }: Failure): Error {
  const error = code === undefined ? new Error(message) : codedError(code, message)
  if (name !== 'Error') error.name = name
  if (stack !== undefined) error.stack = stack
  if (conditions !== undefined) Object.assign(error, { conditions })
  return cause === undefined ? error : Object.assign(error, { cause: revive(cause) })
}

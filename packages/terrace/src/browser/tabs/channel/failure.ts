/** Errors as values of the structured clone, which would lose their codes. */

import { type CodedError, codedError } from 'terrace-core'

export interface Failure {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
  readonly stack: string | undefined
  readonly cause: Failure | undefined
}

export function describe(error: unknown): Failure {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error), code: undefined, stack: undefined, cause: undefined }
  }
  const { name, message, stack, cause } = error
  const { code } = error as Partial<CodedError<string>>
  // The code of a DOMException is a number that means nothing here.
  return {
    name,
    message,
    code: typeof code === 'string' ? code : undefined,
    stack,
    cause: cause === undefined ? undefined : describe(cause)
  }
}

export function revive({ name, message, code, stack, cause }: Failure): Error {
  const error = code === undefined ? new Error(message) : codedError(code, message)
  if (name !== 'Error') error.name = name
  if (stack !== undefined) error.stack = stack
  return cause === undefined ? error : Object.assign(error, { cause: revive(cause) })
}

/** Errors with a code, like those of abstract-level. The guide of each part lists its codes. */

/** An error of the toolbox. `code` is for programs; the message is for people. */
export interface ToolboxError extends Error {
  code: string
  cause?: unknown
}

/**
 * Makes an error with a code.
 *
 * @internal
 */
export function codedError(code: string, message: string, cause?: unknown): ToolboxError {
  return Object.assign(cause === undefined ? new Error(message) : new Error(message, { cause }), { code })
}

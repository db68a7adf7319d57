/** Errors with a code, as abstract-level's are. The codes of a part are listed in its guide. */

/** An error of the toolbox: `code` is for programs, the message for people. */
export interface ToolboxError extends Error {
  code: string
  cause?: unknown
}

/** An error with a code. @internal */
export function codedError(code: string, message: string, cause?: unknown): ToolboxError {
  return Object.assign(cause === undefined ? new Error(message) : new Error(message, { cause }), { code })
}

/** How the program ends: messages, and exit codes, which are those of the program `terrace`. */

/** Exit codes. They are documented in the help and do not change. */
export const ExitCode = { usage: 2, database: 3, locked: 4, damaged: 5 } as const

/** The command line, or a file that it names, is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A database could not be opened; `cause` is the reason. */
export class OpenError extends Error {
  override readonly name = 'OpenError'

  /** @param shown - The database without secrets. */
  constructor(
    readonly shown: string,
    cause: unknown
  ) {
    super(`${shown} cannot be opened`, { cause })
  }
}

/** The exit codes of errors other than an unusable database. */
const codes: Readonly<Record<string, number>> = {
  COPY_MISMATCH: ExitCode.damaged,
  LEVEL_CORRUPTION: ExitCode.damaged,
  LEVEL_LOCKED: ExitCode.locked
}

/** What to do, for errors whose message is meant for callers of the function. */
const advice: Readonly<Record<string, string>> = {
  COPY_TARGET_NOT_EMPTY:
    'TO has entries. --merge keeps those with other keys; --overwrite makes it hold exactly what is in FROM.',
  COPY_KEY_ORDER:
    'The keys are not in byte order, so source and target cannot be compared. Copy with --merge.'
}

interface CodedError extends Error {
  code?: unknown
}

/** The exit code and the message of an error. */
export function explain(error: unknown): { exitCode: number; message: string } {
  if (error instanceof UsageError) return { exitCode: ExitCode.usage, message: error.message }
  if (error instanceof OpenError) {
    const { exitCode, message } = explain(error.cause)
    return { exitCode, message: `${error.shown}: ${message}` }
  }

  const { code, message } = reasonOf(error)
  const text = typeof code === 'string' ? code : ''
  return { exitCode: codes[text] ?? ExitCode.database, message: advice[text] ?? withCode(message, text) }
}

/** The error to report: a failed open is the `cause` of the error of the call that waited for it. */
function reasonOf(error: unknown): CodedError {
  let reason: CodedError = error instanceof Error ? error : new Error(String(error))
  while (reason.code === 'LEVEL_DATABASE_NOT_OPEN' && reason.cause instanceof Error) reason = reason.cause
  return reason
}

function withCode(message: string, code: string): string {
  return code === '' ? message : `${message} (${code})`
}

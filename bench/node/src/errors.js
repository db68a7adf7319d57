/** An error that the user can fix. Only its message is shown. */
export class UsageError extends Error {
  name = 'UsageError'
}

/** The database returned something other than what was written, or less, or more. */
export class VerificationError extends Error {
  name = 'VerificationError'
}

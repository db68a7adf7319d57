/** What the user can do something about: shown as its message alone. */
export class UsageError extends Error {
  name = 'UsageError'
}

/** A database that returned something else than what was written, or less, or more. */
export class VerificationError extends Error {
  name = 'VerificationError'
}

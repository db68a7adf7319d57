/** What a user can mend: only its message is shown. */

/** The command line, or a file that it names, is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What goes wrong, and who has to know. */

/** Exit codes. They are documented in the help and do not change. */
export const ExitCode = { refused: 1, usage: 2, workshop: 3 } as const

/** The command line is wrong, or asks for what cannot be done now. The message is for the learner. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The workshop itself is at fault: its files, or its check. The learner can do nothing about it. */
export class WorkshopError extends Error {
  override readonly name = 'WorkshopError'
}

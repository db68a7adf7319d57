/** Why a check does not accept a program. */

/** Ends a check: the program is not accepted. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  /** @param details - What is shown below the message: a comparison, or an error of the program. */
  constructor(
    message: string,
    readonly details = ''
  ) {
    super(message)
  }
}

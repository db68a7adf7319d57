/** What programs print: the learner's beside the reference solution's, on the same input. */

/** The refusal of a program that printed nothing at all. */
const NOTHING = {
  en: 'Your program printed nothing. console.log(…) prints a line.',
  de: 'Dein Programm gab nichts aus. console.log(…) gibt eine Zeile aus.'
}

/**
 * Runs the learner's program and the reference solution with the same options, and resolves with what each printed, without the
 * line break at its end.
 *
 * A learner's program that fails is refused, and so is one that prints nothing although the solution prints something.
 *
 * @param context - The context of the check.
 * @param options - As those of `context.run`.
 * @param messages - `failures`: errors that are usual in an exercise, as pairs of a pattern of what the program wrote to its error
 *   output, and the message that explains it; the error itself is shown below the message. `silence`: the message on a program that
 *   prints nothing.
 */
export async function outputs(context, options, { failures = [], silence = NOTHING } = {}) {
  const [actual, { stdout }] = await Promise.all([
    submissionOutput(context, options, failures),
    context.run(context.solution, options)
  ])
  const expected = withoutLastBreak(stdout)
  if (actual === '' && expected !== '') context.refuse(silence)
  return { actual, expected }
}

async function submissionOutput(context, options, failures) {
  // `run` would refuse a failure before its explanation is looked up. After `start`, the runner adds the error to any refusal.
  const program = context.start(context.submission, options)
  program.end(options.input)
  const { stdout, stderr, code, timedOut } = await program.result
  if (code !== 0) {
    const usual = timedOut ? undefined : failures.find(([pattern]) => pattern.test(stderr))
    if (usual) context.refuse(usual[1])
    throw new Error(stderr)
  }
  return withoutLastBreak(stdout)
}

/** A text without the line break at its end. */
export function withoutLastBreak(text) {
  return text.replace(/\r?\n$/, '')
}

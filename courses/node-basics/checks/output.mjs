/** What programs print: the learner's beside the reference solution's, on the same input. */

/** On a program that printed nothing at all. */
const NOTHING = {
  en: 'Your program printed nothing. console.log(…) prints a line.',
  de: 'Dein Programm gab nichts aus. console.log(…) gibt eine Zeile aus.'
}

/**
 * Runs the learner's program and the reference solution with the same options, and resolves with what each printed, without the
 * line break at its end: `{ actual, expected }`.
 *
 * A learner's program that fails is refused, and so is one that prints nothing although the solution prints something.
 *
 * @param context - The context of the check.
 * @param options - As those of `context.run`.
 * @param messages - `failures`: errors that are usual in an exercise, as pairs of a pattern of what the program wrote to its error
 *   output, and the message that explains it; the error itself is shown below the message. `silence`: the message on a program that
 *   prints nothing.
 */
export async function outputs(context, options, messages = {}) {
  // `run` would refuse a failure before its explanation is looked up. After `start`, the runner adds the error to any refusal.
  const program = context.start(context.submission, options)
  program.end(options.input)
  const results = await Promise.all([program.result, context.run(context.solution, options)])
  return judged(context, results, messages)
}

/**
 * The same where the check does something while a program runs, such as answering it.
 *
 * @param observe - Is called with the path of each program, starts it with `context.start`, and resolves with its result.
 */
export async function outputsOf(context, observe, messages = {}) {
  const results = await Promise.all([observe(context.submission), observe(context.solution)])
  return judged(context, results, messages)
}

function judged(context, [submission, solution], { failures = [], silence = NOTHING }) {
  const { stdout, stderr, code, timedOut } = submission
  if (code !== 0) {
    const usual = timedOut ? undefined : failures.find(([pattern]) => pattern.test(stderr))
    if (usual) context.refuse(usual[1])
    throw new Error(stderr)
  }
  const [actual, expected] = [withoutLastBreak(stdout), withoutLastBreak(solution.stdout)]
  if (actual === '' && expected !== '') context.refuse(silence)
  return { actual, expected }
}

function withoutLastBreak(text) {
  return text.replace(/\r?\n$/, '')
}

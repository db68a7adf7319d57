/** The commands that run a learner's program. */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { type CheckOptions, check, checkModule, type Example, inContext, type Verdict } from './check.js'
import { filesOf } from './commands.js'
import { shown } from './comparison.js'
import type { CheckContext } from './context.js'
import { firstLines } from './excerpt.js'
import { ExitCode, UsageError } from './failure.js'
import { judgeProgram } from './judgement.js'
import { readableErrors } from './learner-errors.js'
import { learnerFile } from './learner-file.js'
import { Refusal } from './refusal.js'
import type { Session } from './session.js'
import { type Exercise, entryOf } from './workshop.js'
import { textWidth, wrapWords } from './wrap.js'

/** What the command line says of the program. */
export interface Submitted {
  /** The file that the learner named. */
  readonly file: string | undefined
  readonly seed: number
}

/** Checks the learner's program, and keeps that it was accepted. */
export async function verify(session: Session, submitted: Submitted): Promise<void> {
  const exercise = session.requireSelected()
  const verdict = await check(session.workshop, exercise, checkOptions(session, exercise, submitted))
  if (verdict.isAccepted) {
    accept(session, exercise)
  } else {
    printRefusal(session, verdict, session.say('refused'))
    console.log(`\n${session.say('seed-was', { seed: submitted.seed })}`)
  }
}

function accept(session: Session, exercise: Exercise): void {
  session.update((progress) => {
    progress.solved[exercise.name] ??= new Date().toISOString()
  })
  const text = session.say('accepted', { title: session.title(exercise) })
  console.log(session.paint('green', `✓ ${text}`))
  const { next, program } = session
  console.log(next === undefined ? session.say('all-solved') : session.say('next-is', { program }))
}

function printRefusal(session: Session, verdict: Verdict & { isAccepted: false }, headline: string): void {
  process.exitCode = ExitCode.refused
  const words = [session.paint('red', `✗ ${headline}`), ...verdict.message.split(/\s+/)]
  // Other programs that read this find each message in one line.
  console.log(wrapWords(words, process.stdout.isTTY ? textWidth() : Number.POSITIVE_INFINITY))
  if (verdict.details !== '') console.log(`\n${verdict.details}`)
  if (verdict.output !== '') {
    console.log(`\n${session.say('program-printed')}\n${firstLines(verdict.output, MAX_LINES)}`)
  }
}

/** The most lines of a program's output that are shown. */
const MAX_LINES = 20

/** Runs the learner's program with the example of the check, and shows what it does. */
export async function run(session: Session, submitted: Submitted, args: readonly string[]): Promise<void> {
  const exercise = session.requireSelected()
  const { example } = await checkModule(exercise)
  await inContext(session.workshop, exercise, checkOptions(session, exercise, submitted), async (context) => {
    const given = typeof example === 'function' ? await example(context) : (example ?? {})
    const options = args.length > 0 ? { ...given, args } : given
    try {
      await ('with' in options ? showCall(session, context, options) : showProgram(session, context, options))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { message, details } = error
      printRefusal(session, { isAccepted: false, message, details, output: context.lastOutput }, '')
    }
  })
}

async function showCall(session: Session, context: CheckContext, options: Example): Promise<void> {
  const value = await context.call(context.submission, options)
  if (context.lastOutput !== '') console.log(firstLines(context.lastOutput, MAX_LINES))
  // A harness returns more than the function did.
  const heading = session.say(options.harness === undefined ? 'returned-value' : 'observed-value')
  console.log(`${heading}\n${shown(value)}`)
}

async function showProgram(session: Session, context: CheckContext, options: Example): Promise<void> {
  const before = new Set(filesOf(context.directory))
  const program = context.start(context.submission, options)
  program.child.stdout?.pipe(process.stdout, { end: false })
  program.end(options.input)
  const result = await program.result
  const places = { workshop: session.workshop.directory, own: dirname(context.submission) }
  const problem = judgeProgram(result, options, session.say)
  if (result.stderr !== '') console.error(readableErrors(result.stderr, places))
  const written = filesOf(context.directory).filter((file) => !before.has(file))
  if (written.length > 0) console.log(session.say('files-written'))
  for (const file of written) {
    console.log(`  ${relative(context.directory, file)} (${statSync(file).size} bytes)`)
  }
  if (problem) {
    console.error(session.paint('red', problem.message))
    process.exitCode = ExitCode.refused
  }
}

function checkOptions(session: Session, exercise: Exercise, { file, seed }: Submitted): CheckOptions {
  const { language, say } = session
  return { submission: submissionOf(session, exercise, file), seed, language, say }
}

/** The file to check: the one that was named, or the one that `select` made. */
function submissionOf(session: Session, exercise: Exercise, named: string | undefined): string {
  const file = named ?? learnerFile(exercise)
  const path = resolve(session.directory, file)
  if (!existsSync(path)) throw new UsageError(session.say('no-file', { file }))
  const entry = entryOf(realpathSync(path))
  if (entry === undefined) throw new UsageError(session.say('no-entry', { file }))
  return entry
}

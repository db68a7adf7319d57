/** Runs the check of an exercise on a program. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CallOptions, CheckContext, type RunOptions } from './context.js'
import { WorkshopError } from './failure.js'
import { readableErrors } from './learner-errors.js'
import { Random } from './random.js'
import { Refusal } from './refusal.js'
import type { Say } from './texts/index.js'
import { type Exercise, entryOf, partOf, type Workshop } from './workshop.js'

/** A check that has no end would keep the learner waiting. */
const MAX_CHECK_MS = 120_000

/** Whether a program was accepted, or why it was not. */
export type Verdict = { readonly isAccepted: true } | ({ readonly isAccepted: false } & Reasons)

/** Why a program was not accepted. */
export interface Reasons {
  readonly message: string
  /** A comparison, or an error of the program. */
  readonly details: string
  /** What the program printed last. */
  readonly output: string
}

/** An example that a check exports, to show what a program does. */
export interface Example extends RunOptions, CallOptions {}

/** What the module of a check exports. */
export interface CheckModule {
  /** Returns if the program is accepted, or refuses it. */
  readonly default: (context: CheckContext) => unknown
  /** What the command `run` runs the program with. With `with`, its function is called. */
  readonly example?: Example | ((context: CheckContext) => Example | Promise<Example>)
}

export interface CheckOptions {
  /** The path of the program's file. */
  readonly submission: string
  readonly seed: number
  readonly language: string
  readonly say: Say
}

/**
 * Checks a program.
 *
 * @throws WorkshopError if the check itself fails.
 */
export async function check(workshop: Workshop, exercise: Exercise, options: CheckOptions): Promise<Verdict> {
  const { default: run } = await checkModule(exercise)
  return inContext(workshop, exercise, options, async (context) => {
    try {
      await within(MAX_CHECK_MS, run(context), options.say)
      return { isAccepted: true }
    } catch (error) {
      // Then it is known how each program ended.
      await context.stopAll()
      const { message, details } = refusalIn(error, context, workshop, options.say)
      return { isAccepted: false, message, details, output: context.lastOutput }
    }
  })
}

/** Loads the module of a check. */
export async function checkModule(exercise: Exercise): Promise<CheckModule> {
  const file = partOf(exercise, 'check')
  let module: CheckModule
  try {
    module = await import(pathToFileURL(file).href)
  } catch (error) {
    throw new WorkshopError(`${file}: ${(error as Error).stack}`)
  }
  if (typeof module.default !== 'function')
    throw new WorkshopError(`${file} must export a function as default`)
  return module
}

/** Those of contexts that are in use. */
const directories = new Set<string>()

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  directories.delete(directory)
}

process.on('exit', () => {
  for (const directory of directories) remove(directory)
})

/** Calls `action` with a context, and removes its directory and its processes afterwards. */
export async function inContext<T>(
  workshop: Workshop,
  exercise: Exercise,
  { submission, seed, language, say }: CheckOptions,
  action: (context: CheckContext) => Promise<T>
): Promise<T> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'workshop-')))
  directories.add(directory)
  const solution = entryOf(partOf(exercise, 'solution'))
  if (solution === undefined) throw new WorkshopError(`${exercise.directory} has a solution without an index`)
  const context = new CheckContext({
    submission,
    solution,
    workshop: workshop.directory,
    packages: workshop.packages,
    directory,
    seed,
    random: new Random(seed),
    language,
    say
  })
  try {
    return await action(context)
  } finally {
    await context.stopAll()
    remove(directory)
  }
}

/** The refusal that an error of a check stands for. */
function refusalIn(error: unknown, context: CheckContext, workshop: Workshop, say: Say): Refusal {
  if (error instanceof WorkshopError) throw error
  const isRefusal = error instanceof Refusal
  if (isRefusal && (error.details !== '' || !context.hasTalked)) return error

  // A check that talks to a program fails where the program has.
  const problem = context.firstProblem
  if (problem) {
    const places = { workshop: workshop.directory, own: dirname(context.submission) }
    const message = isRefusal ? `${error.message} ${problem.message}` : problem.message
    return new Refusal(message, readableErrors(problem.details, places))
  }
  if (isRefusal) return error
  if (context.hasTalked) return new Refusal(say('check-failed'), chainOf(error))
  throw new WorkshopError(error instanceof Error ? (error.stack ?? error.message) : String(error))
}

/** The messages of an error and its causes. */
function chainOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${chainOf(error.cause)}`
}

/** Waits for a check, and keeps the process alive until then. */
async function within(timeMs: number, work: unknown, say: Say): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    const late = (): void => reject(new Refusal(say('check-too-long', { seconds: timeMs / 1000 })))
    timer = setTimeout(late, timeMs)
  })
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a workshop is whole: its checks accept what is right, and refuse what is wrong. */

import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { check, type Verdict } from './check.js'
import { WorkshopError } from './failure.js'
import { speaker } from './texts/index.js'
import {
  type Exercise,
  entryOf,
  hintsOf,
  partOf,
  problemOf,
  readWorkshop,
  type Workshop,
  workshopDirectory,
  wrongSolutionsOf
} from './workshop.js'

/** How to check a workshop. */
export interface SelfCheckOptions {
  /** The seeds of random input that each check runs with. By default 1 and 2. */
  readonly seeds?: readonly number[]
  /** The names of the exercises to check, so that tests can check several at once. By default all. */
  readonly exercises?: readonly string[]
}

/**
 * Checks a workshop: each reference solution is accepted; each starter is not; each program below `wrong` is refused, with a message
 * that has its first comment in it, or matches it if it is a regular expression; each text is there in all languages.
 *
 * @param location - The directory with `workshop.json`.
 * @returns What is wrong, a line or more for each; an empty array if nothing is.
 */
export async function selfCheck(location: URL | string, options: SelfCheckOptions = {}): Promise<string[]> {
  const { seeds = [1, 2], exercises } = options
  const problems: string[] = []
  const attempt = async (what: string, action: () => unknown): Promise<void> => {
    try {
      await action()
    } catch (error) {
      if (!(error instanceof WorkshopError)) throw error
      problems.push(`${what}: ${error.message}`)
    }
  }

  const directory = workshopDirectory(location)
  await attempt('workshop.json', async () => {
    const workshop = readWorkshop(directory)
    problems.push(...titleProblems(workshop))
    for (const exercise of chosen(workshop, exercises)) {
      problems.push(...textProblems(workshop, exercise))
      for (const program of programsOf(exercise)) {
        const what = `${exercise.name}: ${relative(exercise.directory, program.path)}`
        for (const seed of seeds) {
          await attempt(what, async () => {
            const problem = program.expect(await verdictOn(workshop, exercise, program.path, seed))
            if (problem !== undefined) problems.push(`${what}: ${problem} (seed ${seed})`)
          })
        }
      }
    }
  })
  return problems
}

/** The exercises with these names; all of them unless there are names. */
function chosen(workshop: Workshop, names?: readonly string[]): readonly Exercise[] {
  if (names === undefined) return workshop.exercises
  return names.map((name) => {
    const found = workshop.exercises.find((each) => each.name === name)
    if (found === undefined) throw new WorkshopError(`there is no exercise ${name}`)
    return found
  })
}

function titleProblems({ title, languages }: Workshop): string[] {
  if (typeof title === 'string') return []
  return languages.filter((each) => !(each in title)).map((each) => `workshop.json: "title" has no ${each}`)
}

function textProblems({ languages }: Workshop, exercise: Exercise): string[] {
  const missing = languages.filter((each) => !problemOf(exercise, each)?.trim())
  const problems = missing.map((each) => `${exercise.name}: problem.${each}.md is missing or empty`)
  const counts = languages.map((each) => hintsOf(exercise, each).length)
  if (new Set(counts).size > 1) {
    const shown = languages.map((each, index) => `${each} has ${counts[index]}`).join(', ')
    problems.push(`${exercise.name}: the languages have different numbers of hints: ${shown}`)
  }
  return problems
}

/** A program of an exercise. */
interface Judged {
  readonly path: string
  /** What is wrong with a verdict on it. */
  readonly expect: (verdict: Verdict) => string | undefined
}

function programsOf(exercise: Exercise): Judged[] {
  // A missing part is reported when it is used.
  const pathOf = (part: 'solution' | 'starter'): string =>
    tryPart(exercise, part) ?? join(exercise.directory, part)
  return [
    { path: pathOf('solution'), expect: expectAccepted },
    { path: pathOf('starter'), expect: (verdict) => (verdict.isAccepted ? 'is accepted' : undefined) },
    ...wrongSolutionsOf(exercise).map((path) => ({
      path,
      expect: (verdict: Verdict) => expectRefusal(path, verdict)
    }))
  ]
}

function tryPart(exercise: Exercise, part: 'solution' | 'starter'): string | undefined {
  try {
    return partOf(exercise, part)
  } catch {
    return undefined
  }
}

function expectAccepted(verdict: Verdict): string | undefined {
  return verdict.isAccepted ? undefined : `is refused: ${textOf(verdict)}`
}

function expectRefusal(path: string, verdict: Verdict): string | undefined {
  if (verdict.isAccepted) return 'is accepted'
  const comment = firstComment(path)
  if (comment === undefined) return 'does not begin with a comment that explains why it is refused'
  const text = textOf(verdict)
  const pattern = /^\/(.+)\/(\w*)$/.exec(comment)
  const isMatch = pattern ? new RegExp(pattern[1] as string, pattern[2]).test(text) : text.includes(comment)
  return isMatch ? undefined : `is refused, but not because of '${comment}': ${text}`
}

function textOf(verdict: Verdict & { isAccepted: false }): string {
  return [verdict.message, verdict.details].filter((each) => each !== '').join('\n')
}

function firstComment(path: string): string | undefined {
  const entry = entryOf(path)
  const text = entry !== undefined && existsSync(entry) ? readFileSync(entry, 'utf8') : ''
  return /^(?:#!.*\n)?\s*\/\/\s*(.*?)\s*$/m.exec(text.split('\n').slice(0, 2).join('\n'))?.[1]
}

async function verdictOn(
  workshop: Workshop,
  exercise: Exercise,
  path: string,
  seed: number
): Promise<Verdict> {
  const submission = entryOf(path)
  if (submission === undefined) throw new WorkshopError(`${path} is missing, or a directory without an index`)
  const language = workshop.languages[0] as string
  return check(workshop, exercise, { submission, seed, language, say: speaker(language) })
}

/** The commands that show exercises and progress. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ExitCode, UsageError } from './failure.js'
import { learnerFile, placeStarter } from './learner-file.js'
import { rendered } from './markdown.js'
import type { Session } from './session.js'
import { type Exercise, hintsOf, inLanguage, partOf, problemOf } from './workshop.js'
import { textWidth } from './wrap.js'

/** The exercises, numbered, with marks at those that are solved. */
export function listLines(session: Session): string[] {
  const { exercises } = session.workshop
  const width = String(exercises.length).length
  return exercises.map((exercise, index) => {
    const mark = session.isSolved(exercise) ? session.paint('green', '✓') : ' '
    return `${mark} ${String(index + 1).padStart(width)}  ${session.title(exercise)} (${exercise.name})`
  })
}

export function list(session: Session): void {
  console.log(session.paint('bold', inLanguage(session.workshop.title, session.language)))
  for (const line of listLines(session)) console.log(line)
}

/** @throws UsageError if there is no such exercise. */
export function select(session: Session, name: string | undefined): void {
  if (name === undefined) throw new UsageError(session.say('name-missing'))
  selectExercise(session, find(session, name))
}

function find(session: Session, name: string): Exercise {
  const { exercises } = session.workshop
  const byNumber = /^\d+$/.test(name) ? exercises[Number(name) - 1] : undefined
  const found = exercises.find((each) => each.name === name) ?? byNumber
  if (found === undefined) throw new UsageError(session.say('no-exercise', { name }))
  return found
}

/** Shows an exercise, and makes the learner's file unless it is there. */
export function selectExercise(session: Session, exercise: Exercise): void {
  session.update((progress) => {
    progress.selected = exercise.name
  })
  printProblem(session, exercise)
  const file = learnerFile(exercise)
  const key = placeStarter(exercise, session.directory) ? 'starter-made' : 'starter-kept'
  console.log(`\n${session.say(key, { file, program: session.program })}`)
  if (session.isSolved(exercise)) console.log(session.say('already-solved'))
}

export function print(session: Session): void {
  printProblem(session, session.requireSelected())
}

function printProblem(session: Session, exercise: Exercise): void {
  const { language, workshop } = session
  const problem = problemOf(exercise, language) ?? problemOf(exercise, workshop.languages[0] as string)
  console.log(rendered(problem ?? exercise.name, session.paint, textWidth()))
}

/** Selects the next exercise that is not solved. */
export function next(session: Session): void {
  const exercise = session.next
  if (exercise === undefined) console.log(session.say('all-solved'))
  else selectExercise(session, exercise)
}

/** Shows one more hint; after the last one, all again from the first. */
export function hint(session: Session): void {
  const exercise = session.requireSelected()
  const hints = hintsOf(exercise, session.language)
  if (hints.length === 0) {
    console.log(session.say('no-hint'))
    return
  }

  let number = 0
  session.update((progress) => {
    number = (progress.hints[exercise.name] ?? 0) % hints.length
    progress.hints[exercise.name] = number + 1
  })
  console.log(session.paint('bold', session.say('hint-number', { number: number + 1, count: hints.length })))
  console.log(rendered(hints[number] as string, session.paint, textWidth()))
  if (number + 1 === hints.length) console.log(`\n${session.say('no-more-hints')}`)
}

/** Shows the reference solution. */
export function solution(session: Session, isAnyway: boolean): void {
  const exercise = session.requireSelected()
  if (!isAnyway && !session.isSolved(exercise)) {
    console.log(session.say('solution-later'))
    process.exitCode = ExitCode.refused
    return
  }

  const path = partOf(exercise, 'solution')
  for (const file of filesOf(path)) {
    console.log(session.paint('bold', relative(exercise.directory, file)))
    console.log(readFileSync(file, 'utf8'))
  }
}

/** A file, or all files of a directory. */
export function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)))
}

export function status(session: Session): void {
  const { selected, workshop, solvedCount } = session
  const name = selected === undefined ? session.say('none-selected') : session.title(selected)
  const count = workshop.exercises.length
  console.log(session.say('status-line', { solved: solvedCount, count, selected: name }))
}

/** Forgets what was solved; the language stays. */
export function reset(session: Session): void {
  session.update((progress) => {
    progress.solved = {}
    progress.hints = {}
    delete progress.selected
  })
  console.log(session.say('reset-done'))
}

/** Chooses a language, or lists them. */
export function language(session: Session, code: string | undefined): void {
  if (code === undefined) {
    const languages = session.workshop.languages.join(', ')
    console.log(session.say('language-list', { languages, language: session.language }))
    return
  }
  session.requireLanguage(code)
  session.update((progress) => {
    progress.language = code
  })
  console.log(session.say('language-set', { language: code }))
}

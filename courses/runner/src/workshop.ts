/** A workshop as its directory describes it. */

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WorkshopError } from './failure.js'

/** A text, or one for each language by its code. */
export type LocalText = string | Readonly<Record<string, string>>

/** A directory of exercises. */
export interface Workshop {
  readonly directory: string
  /** Names its file of progress. */
  readonly name: string
  readonly title: LocalText
  readonly version: string
  /** Codes of the languages that problems are there in. The first is what is shown if the learner's is missing. */
  readonly languages: readonly string[]
  /** In the order in which they are meant to be solved. */
  readonly exercises: readonly Exercise[]
  /** Names of packages of the workshop that learners' programs may import without having installed them. */
  readonly packages: readonly string[]
  /** By the former name of an exercise, its present one. Progress follows. */
  readonly renamed: Readonly<Record<string, string>>
}

/** One exercise: a directory below `exercises`. */
export interface Exercise {
  readonly name: string
  readonly directory: string
}

const NAME = /^[a-z0-9][a-z0-9-]*$/
const PACKAGE = /^(@[\w.-]+\/)?[\w.-]+$/
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/

/** The path of a workshop's directory as Node names the modules in it, without links. */
export function workshopDirectory(location: URL | string): string {
  const directory = resolve(location instanceof URL ? fileURLToPath(location) : location)
  return existsSync(directory) ? realpathSync(directory) : directory
}

/**
 * Reads `workshop.json` of a directory.
 *
 * @throws WorkshopError if it is missing, or describes no workshop.
 */
export function readWorkshop(directory: string): Workshop {
  const file = join(directory, 'workshop.json')
  const wrong = (what: string): never => {
    throw new WorkshopError(`${file}: ${what}`)
  }

  let given: Record<string, unknown> = {}
  try {
    given = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    wrong((error as Error).message)
  }
  if (typeof given !== 'object' || given === null) wrong('it must hold an object')

  const { name, title = name, version, languages, exercises, packages = [], renamed = {} } = given
  if (!isName(name)) wrong('"name" must consist of small letters, digits and -')
  if (!isLocalText(title)) wrong('"title" must be a text, or one for each language')
  if (typeof version !== 'string') wrong('"version" must be a text')
  if (!isListOf(languages, (each) => LANGUAGE.test(each))) wrong('"languages" must list codes such as "en"')
  if (!isListOf(exercises, isName)) wrong('"exercises" must list names of small letters, digits and -')
  if (!isEmpty(packages) && !isListOf(packages, (each) => PACKAGE.test(each)))
    wrong('"packages" must list names of packages')
  if (!isTextByName(renamed)) wrong('"renamed" must have the present name for each former one')

  const names = exercises as string[]
  const twice = names.find((each, index) => names.indexOf(each) < index)
  if (twice !== undefined) wrong(`"exercises" lists ${twice} twice`)
  const all = names.map((each) => ({ name: each, directory: join(directory, 'exercises', each) }))
  const missing = all.find((each) => !existsSync(each.directory))
  if (missing) wrong(`${missing.directory} is missing`)
  return { directory, name, title, version, languages, exercises: all, packages, renamed } as Workshop
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

function isLocalText(value: unknown): boolean {
  return typeof value === 'string' || isTextByName(value)
}

function isTextByName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string')
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isListOf(value: unknown, isRight: (each: string) => boolean): boolean {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every((each) => typeof each === 'string' && isRight(each))
}

/** A text in a language, otherwise in the first one that there is. */
export function inLanguage(text: LocalText, language: string): string {
  if (typeof text === 'string') return text
  return text[language] ?? Object.values(text)[0] ?? ''
}

/** The problem of an exercise as Markdown, or nothing if it is not there in this language. */
export function problemOf(exercise: Exercise, language: string): string | undefined {
  return textOf(join(exercise.directory, `problem.${language}.md`))
}

/** The hints of an exercise as Markdown, in order; none if it has none in this language. */
export function hintsOf(exercise: Exercise, language: string): string[] {
  const text = textOf(join(exercise.directory, `hint.${language}.md`))
  if (text === undefined) return []
  return text
    .split(/^---+\s*$/m)
    .map((hint) => hint.trim())
    .filter((hint) => hint !== '')
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** What an exercise is called: the first heading of its problem. */
export function titleOf(exercise: Exercise, language: string): string {
  const problem = problemOf(exercise, language) ?? ''
  return /^#+ +(.*)$/m.exec(problem)?.[1]?.trim() ?? exercise.name
}

/**
 * The path of a part of an exercise, which is a file of any extension or a directory.
 *
 * @throws WorkshopError if there is none.
 */
export function partOf(exercise: Exercise, part: 'starter' | 'solution' | 'check'): string {
  const found = namedIn(exercise.directory, part)
  if (found === undefined) throw new WorkshopError(`${exercise.directory} has no ${part}`)
  return found
}

/** The files and directories below `wrong`, each a solution that the check must refuse. */
export function wrongSolutionsOf(exercise: Exercise): string[] {
  const directory = join(exercise.directory, 'wrong')
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .sort()
    .map((name) => join(directory, name))
}

/** The file to run of a program, which is that file, or a directory with a file named `index`. */
export function entryOf(program: string): string | undefined {
  const stats = statSync(program, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) return program
  const entry = namedIn(program, 'index')
  return entry !== undefined && statSync(entry).isFile() ? entry : undefined
}

function namedIn(directory: string, stem: string): string | undefined {
  const name = readdirSync(directory)
    .sort()
    .find((each) => parse(each).name === stem)
  return name === undefined ? undefined : join(directory, name)
}

/** A run of a workshop's program: what all commands use. */

import { dataDirectory } from './data-directory.js'
import { UsageError } from './failure.js'
import type { Paint } from './paint.js'
import { noProgress, type Progress } from './progress.js'
import { ProgressFile } from './progress-file.js'
import { type Say, speaker } from './texts/index.js'
import { type Exercise, titleOf, type Workshop } from './workshop.js'

/** What a session is made from. */
export interface SessionSettings {
  readonly workshop: Workshop
  /** How the learner calls the program. */
  readonly program: string
  /** Where files of learners are. */
  readonly directory: string
  /** A language for this run alone. */
  readonly language: string | undefined
  readonly paint: Paint
}

export class Session {
  readonly workshop: Workshop
  readonly program: string
  readonly directory: string
  readonly paint: Paint
  progress: Progress
  private readonly file: ProgressFile
  private readonly oneLanguage: string | undefined

  /** @throws UsageError if there is no such language. */
  constructor({ workshop, program, directory, language, paint }: SessionSettings) {
    this.workshop = workshop
    this.program = program
    this.directory = directory
    this.paint = paint
    this.progress = noProgress()
    if (language !== undefined) this.requireLanguage(language)
    this.oneLanguage = language
    this.file = new ProgressFile(dataDirectory(), workshop.name, workshop.renamed, ({ reason, name }) =>
      console.error(this.say(`progress-${reason}`, { file: name }))
    )
    this.progress = this.file.read()
  }

  /** The learner's language: that of this run, the chosen one, that of the environment, or the workshop's first. */
  get language(): string {
    const { languages } = this.workshop
    const wanted = [this.oneLanguage, this.progress.language, ...languagesOf(process.env)]
    return wanted.find((each) => each !== undefined && languages.includes(each)) ?? (languages[0] as string)
  }

  get say(): Say {
    return speaker(this.language)
  }

  /** Changes the progress and keeps it. */
  update(change: (progress: Progress) => void): void {
    this.progress = this.file.update(change)
  }

  /** @throws UsageError if the workshop is not there in this language. */
  requireLanguage(language: string): void {
    const { languages } = this.workshop
    if (languages.includes(language)) return
    throw new UsageError(this.say('no-language', { language, languages: languages.join(', ') }))
  }

  isSolved(exercise: Exercise): boolean {
    return Object.hasOwn(this.progress.solved, exercise.name)
  }

  get solvedCount(): number {
    return this.workshop.exercises.filter((each) => this.isSolved(each)).length
  }

  title(exercise: Exercise): string {
    return titleOf(exercise, this.language)
  }

  /** The selected exercise. */
  get selected(): Exercise | undefined {
    return this.workshop.exercises.find((each) => each.name === this.progress.selected)
  }

  /** @throws UsageError if none is selected. */
  requireSelected(): Exercise {
    const { selected } = this
    if (selected === undefined) throw new UsageError(this.say('select-first'))
    return selected
  }

  /** The first exercise after the selected one that is not solved, otherwise the first of all. */
  get next(): Exercise | undefined {
    const { exercises } = this.workshop
    const isOpen = (each: Exercise): boolean => !this.isSolved(each)
    const after = exercises.findIndex((each) => each.name === this.progress.selected) + 1
    return exercises.slice(after).find(isOpen) ?? exercises.find(isOpen)
  }
}

/** The languages that the environment asks for, without their countries. */
function languagesOf({ LC_ALL, LC_MESSAGES, LANG }: NodeJS.ProcessEnv): string[] {
  const [locale] = [LC_ALL, LC_MESSAGES, LANG].filter(Boolean)
  const language = /^[a-z]{2,3}/.exec(locale ?? '')?.[0]
  return language === undefined ? [] : [language]
}

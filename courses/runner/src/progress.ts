/** What a learner has done in a workshop, and how older forms of it are read. */

/** The present form of a file of progress. */
export const FORMAT = 2

/** A learner's progress. */
export interface Progress {
  format: typeof FORMAT
  /** The code of the language that the learner chose. */
  language?: string
  /** The name of the selected exercise. */
  selected?: string
  /** By the name of an exercise, when it was solved first, as an ISO time. */
  solved: Record<string, string>
  /** By the name of an exercise, how many of its hints were shown. */
  hints: Record<string, number>
}

/** How the text of a file of progress can be used. */
export type Reading =
  | { readonly kind: 'present' | 'converted'; readonly progress: Progress }
  | { readonly kind: 'damaged' }
  | { readonly kind: 'newer'; readonly format: number }

export function noProgress(): Progress {
  return { format: FORMAT, solved: {}, hints: {} }
}

/** Reads the text of a file. Never throws. */
export function readProgress(text: string): Reading {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return { kind: 'damaged' }
  }
  if (!isObject(given)) return { kind: 'damaged' }
  const { format = 1 } = given
  if (typeof format !== 'number') return { kind: 'damaged' }
  if (format > FORMAT) return { kind: 'newer', format }
  if (format === FORMAT) return isProgress(given) ? { kind: 'present', progress: given } : { kind: 'damaged' }
  const progress = converted(given)
  return progress === undefined ? { kind: 'damaged' } : { kind: 'converted', progress }
}

/** The first form: a list of what was solved, without times, and no number of a format. */
function converted(given: Record<string, unknown>): Progress | undefined {
  const { completed = [], current, language } = given
  if (!Array.isArray(completed) || !completed.every(isText)) return undefined
  const progress = noProgress()
  if (isText(current)) progress.selected = current
  if (isText(language)) progress.language = language
  const unknownTime = new Date(0).toISOString()
  for (const name of completed) progress.solved[name] = unknownTime
  return progress
}

function isProgress(given: Record<string, unknown>): given is Record<string, unknown> & Progress {
  return (
    isTextOrMissing(given.language) &&
    isTextOrMissing(given.selected) &&
    isRecordOf(given.solved, isText) &&
    isRecordOf(given.hints, Number.isSafeInteger)
  )
}

function isTextOrMissing(value: unknown): boolean {
  return value === undefined || isText(value)
}

function isRecordOf(value: unknown, isRight: (each: unknown) => boolean): boolean {
  return isObject(value) && Object.values(value).every(isRight)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Moves what was done under former names of exercises to their present ones. */
export function renameExercises(progress: Progress, renamed: Readonly<Record<string, string>>): void {
  for (const [former, present] of Object.entries(renamed)) {
    if (progress.selected === former) progress.selected = present
    for (const record of [progress.solved, progress.hints] as Record<string, unknown>[]) {
      if (!Object.hasOwn(record, former)) continue
      record[present] ??= record[former]
      delete record[former]
    }
  }
}

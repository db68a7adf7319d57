/** Errors of a learner's program as the learner needs them: their file and line, without frames of Node or of the runner. */

import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lastLines } from './excerpt.js'

const MAX_FRAMES = 8

/** The error stands at the end of what was written. */
const MAX_LINES = 40

/** A line of Node's own sources above an error, with its mark. */
const INTERNAL_SOURCE = /^node:\S+:\d+\r?\n.*\r?\n\s*\^+\r?\n(\r?\n)?/gm

const LAST_LINE = /\n*^Node\.js v\d.*\s*$/m

/** Where code of others lies. */
export interface Places {
  /** The directory of the workshop, whose frames are left out. */
  readonly workshop: string
  /** The learner's own directory, whose frames stay even if it is within the workshop. */
  readonly own: string
}

/** What a program wrote to its error output, as the learner should see it. Paths are relative to `directory`. */
export function readableErrors(text: string, { workshop, own }: Places, directory = process.cwd()): string {
  let frames = 0
  const lines = text
    .replace(INTERNAL_SOURCE, '')
    .replace(LAST_LINE, '')
    .split('\n')
    .filter((line) => {
      if (!/^\s+at /.test(line)) return true
      if (!mentions(line, own) && isForeign(line, workshop)) return false
      frames += 1
      return frames <= MAX_FRAMES
    })
  return lastLines(relativeTo(directory, lines.join('\n').trim()), MAX_LINES)
}

function isForeign(line: string, workshop: string): boolean {
  return /\(?node:/.test(line) || mentions(line, __dirname) || mentions(line, workshop) || isNameless(line)
}

/** Frames such as `at new Promise (<anonymous>)`. */
function isNameless(line: string): boolean {
  return line.includes('<anonymous>') && !/:\d+:\d+/.test(line)
}

function mentions(line: string, directory: string): boolean {
  return line.includes(urlOf(directory)) || line.includes(join(directory, sep))
}

function urlOf(directory: string): string {
  return `${pathToFileURL(directory)}/`
}

function relativeTo(directory: string, text: string): string {
  return text.replaceAll(urlOf(directory), '').replaceAll(join(directory, sep), '')
}

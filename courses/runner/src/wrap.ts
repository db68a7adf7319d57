/** Text in lines that fit a terminal. */

import { stripVTControlCharacters } from 'node:util'

/** Longer lines are hard to read. */
const MAX_WIDTH = 100

/** The width where there is no terminal. */
const DEFAULT_WIDTH = 80

/** How many characters a line of prose may have. */
export function textWidth(): number {
  return Math.min(process.stdout.columns || DEFAULT_WIDTH, MAX_WIDTH)
}

/**
 * Words in lines of at most `width` characters, colours not counted. No word is broken, whatever it has in it. The first line begins
 * with `first`, the others with as many spaces.
 */
export function wrapWords(words: readonly string[], width: number, first = ''): string {
  const indent = ' '.repeat(first.length)
  const lines: string[] = []
  let line = first
  let length = first.length
  let separator = ''
  for (const word of words) {
    const wordLength = stripVTControlCharacters(word).length
    if (separator !== '' && length + 1 + wordLength > width) {
      lines.push(line)
      line = indent
      length = indent.length
      separator = ''
    }
    line += separator + word
    length += separator.length + wordLength
    separator = ' '
  }
  return [...lines, line].join('\n')
}

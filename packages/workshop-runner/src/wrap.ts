/** Text in lines that fit a terminal. */

/** Longer lines are hard to read. */
const MAX_WIDTH = 100

/** The width where there is no terminal. */
const DEFAULT_WIDTH = 80

/** How many characters a line of prose may have. */
export function textWidth(): number {
  return Math.min(process.stdout.columns || DEFAULT_WIDTH, MAX_WIDTH)
}

/** A piece of a line that is not broken, as it is printed, and how many characters of it are seen. */
export interface Word {
  readonly text: string
  readonly length: number
}

/** The words in lines of at most `width` characters. The first line begins with `first`, the others with as many spaces. */
export function wrapWords(words: readonly Word[], width: number, first = ''): string {
  const indent = ' '.repeat(first.length)
  const lines: string[] = []
  let line = first
  let length = first.length
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && length + 1 + word.length > width) {
      lines.push(line)
      line = indent
      length = indent.length
      isEmpty = true
    }
    line += (isEmpty ? '' : ' ') + word.text
    length += word.length + (isEmpty ? 0 : 1)
    isEmpty = false
  }
  return [...lines, line].join('\n')
}

/** The words of a text without markup. */
export function plainWords(text: string): Word[] {
  return text.split(/\s+/).map((word) => ({ text: word, length: word.length }))
}

/** Parts of long texts. */

const MAX_LINE_LENGTH = 300

const MARK = '…'

/** The first lines of a text, long lines shortened. */
export function firstLines(text: string, count: number): string {
  const lines = linesOf(text)
  return [...lines.slice(0, count), ...(lines.length > count ? [MARK] : [])].join('\n')
}

/** The last lines of a text, long lines shortened. */
export function lastLines(text: string, count: number): string {
  const lines = linesOf(text)
  return [...(lines.length > count ? [MARK] : []), ...lines.slice(-count)].join('\n')
}

function linesOf(text: string): string[] {
  const lines = text.replace(/\n$/, '').split('\n')
  return lines.map((line) => (line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH) + MARK : line))
}

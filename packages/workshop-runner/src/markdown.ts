/** Problems in the terminal: headings, code, emphasis, lists. */

import type { Paint } from './paint.js'

/** Code comes first, so an asterisk in it stays. */
const CODE_OR_EMPHASIS = /`([^`]+)`|\*(?![\s*])([^*`]*[^\s*`])\*/g

/** A text in Markdown as a terminal shows it. */
export function rendered(markdown: string, paint: Paint): string {
  let fence: string | undefined
  const lines: string[] = []
  for (const line of markdown.trim().split(/\r?\n/)) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (fence === undefined && mark !== undefined) fence = mark
    else if (fence !== undefined && mark?.startsWith(fence)) fence = undefined
    else if (fence !== undefined) lines.push(line === '' ? '' : paint('dim', `    ${line}`))
    else lines.push(proseLine(line, paint))
  }
  return lines.join('\n')
}

function proseLine(line: string, paint: Paint): string {
  const heading = /^#+ +(.*)$/.exec(line)
  if (heading)
    return paint(
      'bold',
      inline(heading[1] as string, (_, text) => text)
    )
  return inline(line.replace(/^(\s*)[-*] +/, '$1  • ').replace(/^(\s*)(\d+\.) +/, '$1  $2 '), paint)
}

function inline(text: string, paint: Paint): string {
  return text.replace(CODE_OR_EMPHASIS, (_, code, emphasis) =>
    code === undefined ? paint('bold', emphasis) : paint('cyan', code)
  )
}

/** Problems in the terminal: headings, code, emphasis, lists. */

import type { Paint } from './paint.js'
import { wrapWords } from './wrap.js'

/** Code comes first, so an asterisk in it stays. */
const CODE_OR_EMPHASIS = /`([^`]+)`|\*(?![\s*])([^*`]*[^\s*`])\*/g

/** Code and emphasis are one word each, with what follows without a space. */
const WORD = new RegExp(`(?:${CODE_OR_EMPHASIS.source}|\\S)+`, 'g')

const FENCE = /^\s*(```+|~~~+)/
const HEADING = /^#+ +(.*)$/
const LIST_ITEM = /^(\s*)([-*]|\d+\.) +(.*)$/
const TABLE_ROW = /^\s*\|/

/** A text in Markdown as a terminal of this width shows it. Paragraphs and items of lists are wrapped, code and tables are not. */
export function rendered(markdown: string, paint: Paint, width: number): string {
  const output: string[] = []
  let fence: string | undefined
  /** The lines of a paragraph or an item, and what its first line begins with. */
  let block: { first: string; lines: string[] } | undefined
  const endBlock = (): void => {
    if (block) output.push(wrapWords(wordsOf(block.lines.join(' '), paint), width, block.first))
    block = undefined
  }

  for (const line of markdown.trim().split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark !== undefined) {
      endBlock()
      fence = mark
    } else if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined
      else output.push(line === '' ? '' : paint('dim', `    ${line}`))
    } else if (line.trim() === '' || HEADING.test(line) || TABLE_ROW.test(line)) {
      endBlock()
      output.push(lineAlone(line, paint))
    } else if (LIST_ITEM.test(line)) {
      endBlock()
      const [, indent, bullet, text] = LIST_ITEM.exec(line) as unknown as [string, string, string, string]
      block = { first: `${indent}  ${/\d/.test(bullet) ? bullet : '•'} `, lines: [text] }
    } else {
      block ??= { first: '', lines: [] }
      block.lines.push(line.trim())
    }
  }
  endBlock()
  return output.join('\n')
}

function lineAlone(line: string, paint: Paint): string {
  const heading = HEADING.exec(line)
  if (heading === null) return line.trim() === '' ? '' : inline(line, paint)
  return paint(
    'bold',
    inline(heading[1] as string, (_, text) => text)
  )
}

function inline(text: string, paint: Paint): string {
  return text.replace(CODE_OR_EMPHASIS, (_, code, emphasis) =>
    code === undefined ? paint('bold', emphasis) : paint('cyan', code)
  )
}

function wordsOf(text: string, paint: Paint): string[] {
  return (text.match(WORD) ?? []).map((word) => inline(word, paint))
}

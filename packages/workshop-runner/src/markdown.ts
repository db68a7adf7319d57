/** Problems in the terminal: headings, code, emphasis, lists. */

import type { Paint } from './paint.js'
import { type Word, wrapWords } from './wrap.js'

/** Code comes first, so an asterisk in it stays. */
const CODE_OR_EMPHASIS = /`([^`]+)`|\*(?![\s*])([^*`]*[^\s*`])\*/g

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
  return text.replace(CODE_OR_EMPHASIS, (_, code, emphasis) => paintedSpan(paint, code, emphasis))
}

function paintedSpan(paint: Paint, code: string | undefined, emphasis: string | undefined): string {
  return code === undefined ? paint('bold', emphasis as string) : paint('cyan', code)
}

/** The words of a line of prose. Code and emphasis are one word each, with what follows without a space. */
function wordsOf(text: string, paint: Paint): Word[] {
  const words: Word[] = []
  let word = { text: '', length: 0 }
  const end = (): void => {
    if (word.length > 0) words.push(word)
    word = { text: '', length: 0 }
  }
  const add = (printed: string, length: number): void => {
    word = { text: word.text + printed, length: word.length + length }
  }
  const addPlain = (plain: string): void => {
    for (const piece of plain.split(/(\s+)/)) {
      if (piece.trim() !== '') add(piece, piece.length)
      else if (piece !== '') end()
    }
  }

  let position = 0
  for (const { 0: span, 1: code, 2: emphasis, index } of text.matchAll(CODE_OR_EMPHASIS)) {
    addPlain(text.slice(position, index))
    add(paintedSpan(paint, code, emphasis), (code ?? emphasis ?? '').length)
    position = index + span.length
  }
  addPlain(text.slice(position))
  end()
  return words
}

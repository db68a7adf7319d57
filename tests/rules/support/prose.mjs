// Finds in the prose of documents what reads as translated: patterns, long sentences, and lines that are too wide. What stands between
// two markers, as in `<!-- results -->` and `<!-- /results -->`, is generated and left out.
//
//   node tests/rules/support/prose.mjs FILE…    lists it, with places

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

export const MAX_WIDTH = 100
const MAX_WORDS = 25

/** What to look for in a sentence, and what is written instead. */
const PATTERNS = [
  [
    /\bsays? (what|how|why|which|whether|where|when)\b/i,
    'explains, describes, lists; or link the word itself'
  ],
  [/\b(go|goes|going|went|gone) on\b/i, 'continues, resumes, keeps working'],
  [/\b(nobody|somebody|whoever|everybody)\b/i, 'no process, another client, the caller'],
  [
    /\b(µs|ms|ns|bytes?|instructions|reads?|calls?|times|operations|allocations) an? (get|put|entry|key|operation|call|read|write|second|row|table|page|block|seek|batch)\b/i,
    'per get, per entry'
  ],
  [/\bas (it|they) (is|are|was|were)(?=[.,;:)]|$)/i, 'unmodified, unchanged'],
  [/\b(is|are|was|were|be|been|being) asked\b/i, 'is queried, is consulted; or name what calls'],
  [/\b(is|are|was|were|be|been|being) told\b|\btold so\b|\btells? of\b/i, 'receives, is notified, reports'],
  [/\bby (itself|themselves)\b/i, 'automatically'],
  [/\b(by|in) turns\b/i, 'interleaved'],
  [/\bof (LevelDB|Terrace|LMDB|RocksDB|Chromium|SlateDB)'s\b/, "LevelDB's …"],
  [/\b(anew|afresh)\b/i, 'again, from scratch'],
  [/\bwhat is (there|left)\b/i, 'the existing data, the rest'],
  [/\bhas the (words|times|figures|reasons|details|rest)\b/i, 'defines the terms, lists the timings'],
  [/\b(by|behind) which\b/i, 'rewrite as two sentences'],
  [
    /\bnot surely\b|\bto have it all\b|\b(come|comes|came|coming) over\b|\bof (its|their) own\b|\bon the way\b/i,
    'not guaranteed; completely; migrate; separate; in flight'
  ],
  [/\b(is|are|was|were|be) looked (at|for|up|into)\b/i, 'is checked, is searched'],
  [/\b(come|comes|came) back\b/i, 'returns, is reclaimed, recovers'],
  [/\bdo(es)? without\b/i, 'leave … off, omit'],
  [/\bhave? to be had\b|\bcan(not)? be had\b/i, 'is available, cannot be installed'],
  [/\bhas the directory\b|\bhas the database\b/i, 'has it open, owns it'],
  [/\bguessed around\b|\bthe counts of now\b/i, 'say it plainly']
]

const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/

/** The document with blank lines for what is generated, and for blocks of code. */
function withoutBlocks(markdown) {
  const blank = (part) => part.replace(/[^\n]/g, '')
  return markdown
    .replace(/<!-- ([\w-]+) -->.*?<!-- \/\1 -->/gs, blank)
    .replace(/^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[^\n]*$|$(?!\n))/gms, blank)
}

/**
 * The prose of a document {@link withoutBlocks}: paragraphs and items of lists as `{ text, line }`, where code is `Code` and a link its
 * text, and what cells of tables hold as `{ text, line, isCell: true }`.
 */
function proseOf(markdown) {
  const blocks = []
  let open
  let isComment = false
  for (const [index, raw] of markdown.split('\n').entries()) {
    const line = raw.trimEnd()
    if (isComment || /^\s*<!--/.test(line)) {
      isComment = !line.includes('-->')
      open = undefined
    } else if (/^\s*\|/.test(line)) {
      open = undefined
      for (const cell of line.split(/(?<!\\)\|/)) {
        if (/[a-z]{3}/.test(cell)) blocks.push({ text: cell, line: index + 1, isCell: true })
      }
    } else if (line.trim() === '' || /^#|^\s*(---|===)|^\s*<|^(\[[^\]]+\]: )/.test(line)) {
      open = undefined
    } else if (open === undefined || LIST_ITEM.test(line)) {
      open = { text: line.replace(LIST_ITEM, ''), line: index + 1 }
      blocks.push(open)
    } else {
      open.text += ` ${line.trim().replace(/^>\s?/, '')}`
    }
  }
  return blocks.map((block) => ({ ...block, text: plain(block.text) }))
}

function plain(text) {
  return text
    .replace(/`` ?.+? ?``|`[^`]+`/g, 'Code')
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|__/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** @returns {string[]} */
function sentencesOf(text) {
  return text
    .replace(/\b(e\.g|i\.e|etc|vs|no|cf)\./gi, '$1')
    .split(/(?<=[.!?][)"”]?)\s+(?=[A-Z`(“"'])|;\s+/)
    .filter((sentence) => sentence.trim() !== '')
}

/** What a document should not have: `{ line, what, text }`. */
export function faultsIn(markdown, maxWidth = MAX_WIDTH) {
  const faults = []
  const readable = withoutBlocks(markdown)
  for (const { text, line, isCell } of proseOf(readable)) {
    for (const [pattern, advice] of PATTERNS) {
      const hit = pattern.exec(text)
      if (hit !== null) faults.push({ line, what: 'pattern', text: `"${hit[0]}": ${advice}` })
    }
    if (isCell) continue
    for (const sentence of sentencesOf(text)) {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
      if (words > MAX_WORDS) faults.push({ line, what: 'sentence', text: `${words} words: ${sentence}` })
    }
  }
  return [...faults, ...longLines(readable, maxWidth)].sort((a, b) => a.line - b.line)
}

/** Lines of prose {@link withoutBlocks} that are too wide. A single link that is too long is allowed. */
function longLines(markdown, maxWidth) {
  return markdown.split('\n').flatMap((line, index) => {
    const isProse = !/^\s*(\||<|#|\[[^\]]+\]: |!\[)/.test(line)
    const canBreak = line.replace(/\[[^\]]*\]\([^)]*\)|`[^`]*`/g, (word) => word.replaceAll(' ', '_')).trim()
    return isProse && [...line].length > maxWidth && /\S\s+\S/.test(canBreak.replace(LIST_ITEM, ''))
      ? [{ line: index + 1, what: 'width', text: `${[...line].length} characters` }]
      : []
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const file of process.argv.slice(2)) {
    for (const { line, what, text } of faultsIn(readFileSync(file, 'utf8')))
      console.log(`${file}:${line}: ${what}: ${text}`)
  }
}

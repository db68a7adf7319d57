// The code blocks of a document.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../root.mjs'

const BLOCK =
  /(?:^<!-- (?:not run: (?<reason>.*)|(?<page>in a page)) -->\n)?^(?<fence>```|~~~)(?<language>\w*).*\n(?<code>[\s\S]*?)^\k<fence>/gm

/**
 * The blocks of a document, in order: `{ language, code, reason, inPage, line }`. `reason` is what `<!-- not run: REASON -->` above a
 * block says, else undefined. `inPage` says whether `<!-- in a page -->` is above it: it runs in a browser. `line` is the number of
 * the block's first line.
 */
export function blocksOf(document) {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(BLOCK)].map(({ index, groups }) => ({
    language: groups.language === '' ? 'plain' : groups.language,
    code: groups.code,
    reason: groups.reason,
    inPage: groups.page !== undefined,
    line:
      text.slice(0, index).split('\n').length +
      (groups.reason === undefined && groups.page === undefined ? 0 : 1)
  }))
}

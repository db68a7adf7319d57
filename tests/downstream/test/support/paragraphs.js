// Real input: the paragraphs of this repository's documents.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  ...listed('docs'),
  ...listed('docs/decisions'),
  ...listed('docs/format')
]

function listed(directory) {
  const names = readdirSync(join(ROOT, directory)).sort()
  return names.filter((name) => name.endsWith('.md')).map((name) => `${directory}/${name}`)
}

/**
 * A paragraph.
 *
 * @typedef {object} Paragraph
 * @property {string} _id - The document and the number of the paragraph in it.
 * @property {string} document - The document's path.
 * @property {string} text
 */

/**
 * All paragraphs of all documents.
 *
 * @returns {Paragraph[]}
 */
export function paragraphs() {
  return DOCUMENTS.flatMap((document) => {
    const texts = readFileSync(join(ROOT, document), 'utf8').split(/\n{2,}/)
    return texts.map((text, index) => ({ _id: `${document} ${index}`, document, text }))
  })
}

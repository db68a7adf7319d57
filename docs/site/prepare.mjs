// Writes what VitePress reads: every page with its links rewritten, the pictures, and the API reference.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { rewriteLinks } from './links.mjs'
import { documents, pageOf } from './pages.mjs'
import { writeReference } from './reference.mjs'
import { pagesDirectory, root } from './root.mjs'

/** What the home page has above its text. On GitHub the text stands alone. */
const HOME = `---
layout: home
hero:
  name: Terrace
  text: Ordered keys, on disk
  tagline: An embedded key/value database for Node.js, browsers, Rust, C and Ruby, in LevelDB's file format
  actions:
    - { theme: brand, text: Recipes, link: /recipes }
    - { theme: alt, text: Coming over, link: /coming-over }
    - { theme: alt, text: API reference, link: /reference/ }
---

`

/** Makes the sources of the site anew. */
export async function prepare() {
  rmSync(pagesDirectory, { recursive: true, force: true })
  const pages = pagesByFile()
  const pictures = new Set()
  for (const document of documents) {
    const text = readFileSync(path.join(root, document), 'utf8')
    write(
      pageOf(document),
      (document === 'docs/index.md' ? HOME : '') + rewriteLinks(text, document, pages, pictures)
    )
  }
  cpSync(path.join(root, 'docs/site/logo.svg'), path.join(pagesDirectory, 'public/logo.svg'))
  for (const picture of pictures)
    cpSync(path.join(root, picture), path.join(pagesDirectory, 'public', picture))
  await writeReference(path.join(pagesDirectory, 'reference'))
}

/** From the paths of documents to pages. A directory stands for its README. */
function pagesByFile() {
  const pages = new Map(documents.map((document) => [document, pageOf(document)]))
  for (const document of documents) {
    if (path.basename(document) === 'README.md') pages.set(path.dirname(document), pageOf(document))
  }
  return pages
}

function write(page, text) {
  const file = path.join(pagesDirectory, page)
  if (existsSync(file)) throw new Error(`two documents become ${page}`)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

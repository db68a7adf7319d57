// Writes what VitePress reads: every page with its links rewritten, the pictures, and the API reference.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { addressOf, rewriteLinks } from './links.mjs'
import { documents, pageOf } from './pages.mjs'
import { writeReference } from './reference.mjs'
import { pagesDirectory, root } from './root.mjs'

/** What the home page has in place of the heading that it has on GitHub. */
const HOME = `---
layout: home
hero:
  name: Terrace
  text: An embedded, ordered database
  tagline: Keys and values for Node.js, browsers, Rust, C and Ruby, in LevelDB's file format
  image: { src: /logo.svg, alt: Three terraces }
  actions:
    - { theme: brand, text: Getting started, link: /getting-started }
    - { theme: alt, text: Why Terrace, link: /why-terrace }
    - { theme: alt, text: Migrating, link: /migrating }
    - { theme: alt, text: API reference, link: /reference/ }
---

`

/** Makes the sources of the site anew. */
export async function prepare() {
  rmSync(pagesDirectory, { recursive: true, force: true })
  const pages = pagesByFile()
  const served = new Set()
  for (const document of documents) {
    const text = readFileSync(path.join(root, document), 'utf8')
    const page = rewriteLinks(text, document, pages, served)
    write(pageOf(document), document === 'docs/index.md' ? page.replace(/^# .*\n+/, HOME) : page)
  }
  serve('docs/site/logo.svg', 'logo.svg')
  for (const file of served) serve(file, addressOf(file))
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

/** Makes a file of the repository one of the site. */
function serve(file, address) {
  cpSync(path.join(root, file), path.join(pagesDirectory, 'public', address))
}

function write(page, text) {
  const file = path.join(pagesDirectory, page)
  if (existsSync(file)) throw new Error(`two documents become ${page}`)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

// The settings of VitePress: where it reads and writes, the menu, and a search whose index is part of the site.

import path from 'node:path'
import { sidebar } from '../pages.mjs'
import { outDirectory, pagesDirectory, root } from '../root.mjs'
import { slugOf } from '../slug.mjs'

/** Where the site is on its host: `DOCS_BASE=/terrace/ make docs`. */
const base = process.env.DOCS_BASE ?? '/'

/** The bytes of the file format's examples, with what they mean after a `#`. */
const HEX = {
  name: 'hex',
  scopeName: 'source.hex',
  patterns: [
    { match: '#.*$', name: 'comment.line' },
    { match: '\\b[0-9a-f]{2}\\b', name: 'constant.numeric' }
  ]
}

/** Puts guides before the reference, which has many a word ten times, and before decisions and results. */
function boostDocument(id) {
  if (/^\/(reference|decisions|bench\/results)\//.test(id)) return 0.2
  if (/^\/(ruby|tests|net-protocol|c-library)/.test(id)) return 0.5
  return 1
}

export default {
  title: 'Terrace',
  description: "An embedded, ordered key/value database in LevelDB's file format",
  lang: 'en',
  base,
  srcDir: pagesDirectory,
  outDir: outDirectory,
  cacheDir: path.join(root, 'target/site-cache'),
  cleanUrls: false,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  metaChunk: true,
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  markdown: {
    anchor: { slugify: slugOf },
    languages: [HEX]
  },
  themeConfig: {
    logo: '/logo.svg',
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument } } } },
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'Migrating', link: '/migrating' },
      { text: 'File format', link: '/format/' },
      { text: 'Reference', link: '/reference/' }
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    footer: { message: 'MIT licence' }
  }
}

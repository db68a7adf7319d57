// Which documents of the repository are pages of the site, and where.

import { readdirSync } from 'node:fs'
import path from 'node:path'
import { ENTRY_POINTS, stores } from './entry-points.mjs'
import { root } from './root.mjs'

/** A part of the menu: a title, and its pages as `[title, document]`. A document is named by its path in the repository. */
const PARTS = [
  [
    'Start',
    [
      ['What Terrace is', 'docs/index.md'],
      ['Getting started', 'docs/getting-started.md'],
      ['Why Terrace, and why not', 'docs/why-terrace.md']
    ]
  ],
  [
    'Guide',
    [
      ['Reading', 'docs/reading.md'],
      ['Writing', 'docs/writing.md'],
      ['Designing keys', 'docs/key-design.md'],
      ['One database or many?', 'docs/one-database-or-many.md'],
      ['Recipes', 'docs/recipes.md'],
      ['Sublevels and hooks', 'docs/hooks.md'],
      ['In the browser', 'docs/browser.md'],
      ['Sharing a database', 'docs/sharing.md'],
      ['Choosing a back-end', 'docs/back-ends.md'],
      ['A MySQL cluster', 'docs/mysql-cluster.md']
    ]
  ],
  [
    'Toolbox',
    [
      ['Overview', 'packages/toolbox/README.md'],
      ['Secondary indexes', 'docs/toolbox/index.md'],
      ['Transactions', 'docs/toolbox/transaction.md'],
      ['Entries that expire', 'docs/toolbox/ttl.md'],
      ['Change feed', 'docs/toolbox/feed.md'],
      ['Locks', 'docs/toolbox/lock.md'],
      ['Streams', 'docs/toolbox/streams.md'],
      ['Copies and dumps', 'docs/toolbox/copy.md'],
      ['Structured keys', 'packages/bytewise/README.md']
    ]
  ],
  [
    'Operations',
    [
      ['Operations', 'docs/operations.md'],
      ['Tuning', 'docs/tuning.md'],
      ['Directories, copies, repair', 'docs/directories.md'],
      ['Inspecting a database', 'docs/inspecting-leveldb.md'],
      ['The viewer', 'viewer/README.md']
    ]
  ],
  [
    'Migrating',
    [
      ['Migrating', 'docs/migrating.md'],
      ['In place of leveldown', 'packages/leveldown/README.md'],
      ['Upgrading, with programs', 'UPGRADING.md']
    ]
  ],
  [
    'How it works',
    [
      ['How it works', 'docs/how-it-works.md'],
      ['Crash safety', 'docs/crash-safety.md'],
      ['Architecture', 'ARCHITECTURE.md'],
      ['Interoperation', 'tests/interop/README.md'],
      ['Decisions', 'docs/decisions/README.md']
    ]
  ],
  [
    'File format',
    [
      ['Overview', 'docs/format/README.md'],
      ['File names', 'docs/format/file-names.md'],
      ['Log', 'docs/format/log.md'],
      ['Batch', 'docs/format/batch.md'],
      ['Version edit', 'docs/format/version-edit.md'],
      ['Table', 'docs/format/table.md'],
      ['Block', 'docs/format/block.md'],
      ['Filter', 'docs/format/filter.md'],
      ['Compression', 'docs/format/compression.md'],
      ['Comparators', 'docs/format/comparators.md'],
      ['Structured keys', 'docs/format/bytewise.md']
    ]
  ],
  [
    'Reference',
    [
      ['The database: Level', 'packages/terrace/README.md'],
      ['Server and client', 'packages/net/README.md'],
      ['The protocol of terrace-net', 'docs/net-protocol.md'],
      ['Your own back-end', 'packages/core/README.md'],
      ...stores.map(({ title, directory }) => [title, `${path.relative(root, directory)}/README.md`]),
      ['terrace-copy', 'packages/copy/README.md'],
      ['terrace-cli', 'packages/cli/README.md'],
      ['The C library', 'docs/c-library.md'],
      ['The gem for Ruby', 'ruby/README.md'],
      ['Builds', 'docs/prebuilds.md'],
      ['Workshops', 'courses/runner/README.md'],
      ['Errors', 'docs/errors.md'],
      ['Glossary', 'docs/glossary.md'],
      ['Changelog', 'CHANGELOG.md']
    ]
  ],
  [
    'Measurements',
    [
      ['Benchmarks', 'docs/benchmarks.md'],
      ['Performance', 'docs/performance.md'],
      ['Engines, in Rust', 'bench/results/rivals.md'],
      ['Databases, in Node', 'bench/results/node.md'],
      ['All results', 'bench/results/README.md'],
      ['The benchmark in Node', 'bench/node/README.md']
    ]
  ]
]

/** The parts that are open when a reader comes. */
const OPEN = ['Start', 'Guide']

/** Pages that are reached by links alone: each decision, each table of results, the READMEs of the matrices. */
const OTHERS = [
  'README.md',
  'RELEASING.md',
  'tests/downstream/README.md',
  'tests/downstream/leveldown/README.md',
  'tests/back-ends/README.md',
  'testdata/README.md',
  ...markdownIn('docs/decisions'),
  ...markdownIn('bench/results')
]

/** Documents whose name would make them the page of a whole directory, which they are not. */
const MOVED = { 'README.md': 'repository.md', 'docs/toolbox/index.md': 'toolbox/indexes.md' }

/** All documents that are pages, without the reference. */
export const documents = [
  ...new Set([...PARTS.flatMap(([, pages]) => pages.map(([, document]) => document)), ...OTHERS])
]

/** The menu as VitePress has it. */
export function sidebar() {
  const parts = PARTS.map(([text, pages]) => ({
    text,
    collapsed: !OPEN.includes(text),
    items: pages.map(([title, document]) => ({ text: title, link: linkOf(pageOf(document)) }))
  }))
  const reference = {
    text: 'API reference',
    collapsed: true,
    items: Object.keys(ENTRY_POINTS).map((name) => ({ text: name, link: `/reference/${name}` }))
  }
  return [...parts, reference]
}

/** The file in the site's sources that a document becomes. The `docs/` in front of most is left out, and a README is an index. */
export function pageOf(document) {
  return MOVED[document] ?? document.replace(/^docs\//, '').replace(/README\.md$/, 'index.md')
}

function linkOf(page) {
  return `/${page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`
}

function markdownIn(directory) {
  return readdirSync(path.join(root, directory))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${directory}/${name}`)
}

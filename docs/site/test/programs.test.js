// Every code block of the site's pages: it runs here, another test runs it, or it is marked with the reason why it cannot.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { documents } from '../pages.mjs'
import { root } from '../root.mjs'
import { blocksOf } from './support/blocks.js'
import { check, goesOn } from './support/programs.js'

const backEnd = (name) => [
  `packages/back-ends/${name}/README.md`,
  `packages/back-ends/${name}/test/package.long.test.js`,
  name
]

/** Pages whose programs another test runs, each with that test and a text in it that shows which page it takes. */
const ELSEWHERE = [
  ['UPGRADING.md', 'tests/upgrading/test/recipes.test.js', 'UPGRADING.md'],
  ['docs/sharing.md', 'packages/net/test/guides.test.js', 'docs/sharing.md'],
  ['packages/net/README.md', 'packages/net/test/guides.test.js', '../README.md'],
  ...['lmdb', 'mysql', 'slatedb'].map(backEnd)
]

/** What else has a test: languages that are not JavaScript, by where their blocks are run or compared. */
const OTHER_LANGUAGES = {
  hex: 'crates/format/tests/all/doc_examples.rs and packages/net/test/protocol-document.test.js',
  console: 'crates/cli/tests/all/documents.rs',
  ruby: 'ruby/test/readme_test.rb',
  c: 'crates/capi/tests/programs.rs',
  cmake: 'tests/published/archives/library.test.mjs'
}

const elsewhere = new Map(ELSEWHERE.map(([document, ...where]) => [document, where]))
const counts = { 'run here': 0 }
const count = (what) => {
  counts[what] = (counts[what] ?? 0) + 1
}

/** What runs code rather than shows it. */
const isProgram = ({ language }) => /^(js|mjs|cjs|ts)$/.test(language)

for (const document of documents) {
  const here = []
  for (const block of blocksOf(document)) {
    if (block.reason !== undefined) count(`not run, ${document}:${block.line}: ${block.reason}`)
    else if (block.inPage) count('run in a page by docs/site/test/built/pages.test.js')
    else if (!isProgram(block))
      count(`in ${block.language}, ${OTHER_LANGUAGES[block.language] ?? 'shown, not run'}`)
    else if (elsewhere.has(document)) count(`run by ${elsewhere.get(document)[0]}`)
    else {
      count('run here')
      if (goesOn(block.code)) here.at(-1).push(block)
      else here.push([block])
    }
  }
  for (const blocks of here) {
    test(`${document}:${blocks.map(({ line }) => line)}`, () => check(blocks.map(({ code }) => code)))
  }
}

test('the tests that run the other pages take these pages', () => {
  for (const [document, [file, mark]] of elsewhere) {
    assert.ok(documents.includes(document), document)
    assert.ok(readFileSync(join(root, file), 'utf8').includes(mark), `${file} has no ${mark}`)
  }
})

test('the pages of recipes and of keys have many programs', () => {
  for (const document of ['docs/recipes.md', 'docs/key-design.md', 'docs/migrating.md']) {
    assert.ok(
      blocksOf(document).filter((block) => isProgram(block) && block.reason === undefined).length > 3,
      document
    )
  }
})

after(() => {
  for (const [what, number] of Object.entries(counts)) console.log(`${String(number).padStart(4)} ${what}`)
})

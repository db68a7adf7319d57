// What becomes of the links of a document.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rewriteLinks } from '../links.mjs'
import { slugOf } from '../slug.mjs'

const pages = new Map([
  ['docs/a.md', 'a.md'],
  ['docs/toolbox/ttl.md', 'toolbox/ttl.md'],
  ['packages/net/README.md', 'packages/net/index.md'],
  ['packages/net', 'packages/net/index.md']
])

function rewritten(text, document = 'docs/a.md') {
  const served = new Set()
  return { text: rewriteLinks(text, document, pages, served), served: [...served] }
}

/** Links of docs/a.md, and what becomes of them. */
const LINKS = {
  '[ttl](toolbox/ttl.md)': '[ttl](./toolbox/ttl.md)',
  '[ttl](toolbox/ttl.md#api "the API")': '[ttl](./toolbox/ttl.md#api "the API")',
  '[`net`](../packages/net/README.md)': '[`net`](./packages/net/index.md)',
  '[net](../packages/net)': '[net](./packages/net/index.md)',
  '[net](../packages/net/)': '[net](./packages/net/index.md)',
  '[here](#there)': '[here](#there)',
  '[far](https://example.org/a.md)': '[far](https://example.org/a.md)',
  '[code](../crates/engine/options.json)':
    '<span class="in-repository" title="crates/engine/options.json in the repository">code</span>',
  '`[not](a link.md)`': '`[not](a link.md)`',
  '```js\nlet x = y[0](z.md)\n```': '```js\nlet x = y[0](z.md)\n```'
}

for (const [before, after] of Object.entries(LINKS)) {
  test(`${JSON.stringify(before)} becomes ${JSON.stringify(after)}`, () => {
    assert.deepEqual(rewritten(before), { text: after, served: [] })
  })
}

test('from a page in a directory, links go up', () => {
  assert.equal(rewritten('[a](../a.md)', 'docs/toolbox/ttl.md').text, '[a](./../a.md)')
})

test('pictures and programs are served', () => {
  assert.deepEqual(rewritten('![x](../results/x.svg) [z](z.mjs)'), {
    text: '![x](/results/x.svg) <a href="z.mjs" target="_blank">z</a>',
    served: ['results/x.svg', 'docs/z.mjs']
  })
  assert.deepEqual(rewritten('[y](../../results/y.png)', 'docs/toolbox/ttl.md'), {
    text: '<a href="../results/y.png" target="_blank">y</a>',
    served: ['results/y.png']
  })
})

test('anchors are those of GitHub', () => {
  assert.equal(slugOf('One database or many?'), 'one-database-or-many')
  assert.equal(slugOf('`db.open([options])`'), 'dbopenoptions')
  assert.equal(slugOf('hashIndexPercent and mapTables'), 'hashindexpercent-and-maptables')
})

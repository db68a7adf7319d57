// Every sentence of abstract-level's documentation of hooks, and of what it says about them elsewhere, as our defaults. The
// sentences are the names of the tests. Each test also runs on memory-level, to show that it tests what the sentence says.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { kindsOf, opened } from './support/databases.js'
import { eventsAndBatches } from './support/documented/events.js'
import { otherHooks } from './support/documented/other-hooks.js'
import { prewriteHooks } from './support/documented/prewrite.js'

const readme = readFileSync(createRequire(import.meta.url).resolve('abstract-level/README.md'), 'utf8')

const makers = {
  'memory-level': (t) => opened(t, new MemoryLevel({ storeEncoding: 'utf8' })),
  ...Object.fromEntries(kindsOf().map(([name, { make }]) => [name, (t) => opened(t, make(t))]))
}

/** The sentences of abstract-level, word for word, each with the test of what it says. */
const quoted = []

function documented(sentences, run) {
  const quotes = [sentences].flat()
  quoted.push(...quotes)

  for (const [name, make] of Object.entries(makers)) {
    test(`${quotes.join(' ')} (${name})`, async (t) => run(await make(t), t))
  }
}

prewriteHooks(documented)
otherHooks(documented)
eventsAndBatches(documented)

/** Sentences that say nothing testable. */
const beside = [
  '**Hooks are experimental and subject to change without notice.**',
  'Some are shared between database methods to encapsulate common behavior.'
]

test('no sentence of the documentation of hooks is left out', () => {
  for (const quote of quoted) assert.ok(readme.includes(quote), quote)

  const from = readme.indexOf('\n### Hooks\n')
  let rest = readme
    .slice(from, readme.indexOf('\n### Shared Access\n', from))
    .replaceAll(/^```js\n.*?^```$/gms, '')
    .replaceAll(/^#+ .*$/gm, '')
  for (const quote of [...quoted, ...beside].sort((a, b) => b.length - a.length))
    rest = rest.replaceAll(quote, '')
  assert.equal(rest.trim(), '')
})

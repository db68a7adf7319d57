// The built site: every link within it leads to a page and an anchor that are there, and no page asks another host for anything.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, posix } from 'node:path'
import { after, test } from 'node:test'
import { documents, pageOf } from '../../pages.mjs'
import { outDirectory } from '../../root.mjs'
import { fileIn } from '../support/site.js'

const files = readdirSync(outDirectory, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const withExtension = (extension) => files.filter((file) => extname(file) === extension)
const pages = withExtension('.html')
const read = (file) => readFileSync(file, 'utf8')
const pathOf = (file) => file.slice(outDirectory.length)

const unescaped = (text) =>
  text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<')
const attributes = (html, name) =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) => unescaped(value))
const isElsewhere = (target) => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)

const anchorsOf = new Map(
  pages.map((file) => [file, new Set([...attributes(read(file), 'id'), ...attributes(read(file), 'name')])])
)
const elsewhere = new Map()

/** Why a link of a page leads nowhere, or undefined. */
function broken(page, target) {
  const [path, anchor] = target.split('#')
  const to =
    path === ''
      ? page
      : fileIn(
          outDirectory,
          posix.join(path.startsWith('/') ? '/' : posix.dirname(pathOf(page)), decodeURI(path))
        )
  if (to === undefined) return `${pathOf(page)}: ${target}: no such page`
  if (!anchor || extname(to) !== '.html') return undefined
  return anchorsOf.get(to).has(decodeURIComponent(anchor))
    ? undefined
    : `${pathOf(page)}: ${target}: no such anchor`
}

test('each document is a page', () => {
  for (const document of documents) {
    const page = pageOf(document).replace(/\.md$/, '.html')
    assert.ok(files.includes(join(outDirectory, page)), page)
  }
  assert.ok(pages.length > documents.length)
})

test('every link within the site leads to a page, and to an anchor in it', () => {
  let count = 0
  const wrong = []
  for (const page of pages) {
    for (const target of attributes(read(page), 'href')) {
      if (isElsewhere(target)) elsewhere.set(target, (elsewhere.get(target) ?? 0) + 1)
      else {
        count++
        const problem = broken(page, target)
        if (problem !== undefined) wrong.push(problem)
      }
    }
  }
  console.log(`${count} links within ${pages.length} pages`)
  assert.ok(count > 1000)
  assert.deepEqual([...new Set(wrong)], [])
})

test('no script, style, font or picture comes from another host', () => {
  const wrong = []
  for (const page of pages) {
    const html = read(page)
    const loaded = [
      ...[...html.matchAll(/<link\b[^>]*>/g)].flatMap(([tag]) => attributes(tag, 'href')),
      ...attributes(html, 'src'),
      ...attributes(html, 'srcset'),
      ...attributes(html, 'poster')
    ]
    assert.ok(loaded.length > 0)
    for (const target of loaded) {
      if (isElsewhere(target) && !target.startsWith('data:')) wrong.push(`${pathOf(page)}: ${target}`)
      else if (
        !isElsewhere(target) &&
        fileIn(outDirectory, posix.join('/', dirname(target), posix.basename(target).split('?')[0])) ===
          undefined
      ) {
        wrong.push(`${pathOf(page)}: ${target}: not there`)
      }
    }
  }
  for (const file of withExtension('.css')) {
    for (const [, target] of read(file).matchAll(/(?:url\(|@import\s*)['"]?([^'")]+)/g)) {
      if (isElsewhere(target) && !target.startsWith('data:')) wrong.push(`${pathOf(file)}: ${target}`)
    }
  }
  for (const file of withExtension('.svg')) {
    for (const target of [...attributes(read(file), 'href'), ...attributes(read(file), 'xlink:href')]) {
      if (isElsewhere(target) && !target.startsWith('data:')) wrong.push(`${pathOf(file)}: ${target}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('no script of the site names a service that it would ask', () => {
  const found = withExtension('.js').filter((file) =>
    /algolia\.(net|com)\/1|fonts\.g(oogleapis|static)|cdn\.jsdelivr|unpkg\.com/.test(read(file))
  )
  assert.deepEqual(found.map(pathOf), [])
})

after(() => {
  console.log(`${elsewhere.size} addresses elsewhere, which are not fetched:`)
  for (const [target, count] of [...elsewhere].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(count).padStart(5)} ${target}`)
})
